// node sizes.mjs NAMES…: the bytes that bundlers make of the package for each import, minified and gzipped,
// JSON on stdout. "react: useStream" is an import from jsonrill/react.
// `vite` and `esbuild` (with --splitting) are what a page loads at once, without what comes later, with import();
// `one` is everything in one file, by esbuild. Of a program that does nothing with it but import it.

import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";

const packed = (code) => gzipSync(code, { level: 9 }).length;

/** The size of a chunk and of those that it imports; `chunks` has their code and the names of their imports. */
function loaded(chunks, first) {
  const names = [first];
  for (const name of names) names.push(...chunks.get(name).imports.filter((other) => !names.includes(other)));
  return names.reduce((sum, name) => sum + packed(chunks.get(name).code), 0);
}

async function byVite(entry) {
  const rollupOptions = { input: entry, external: ["react"] };
  const { output } = await vite({ logLevel: "error", build: { write: false, rollupOptions } });
  const chunks = output.filter(({ type }) => type === "chunk");
  const isOurs = (name) => chunks.some(({ fileName }) => fileName === name);
  const named = chunks.map(({ fileName, code, imports }) => [fileName, { code, imports: imports.filter(isOurs) }]);
  return loaded(new Map(named), chunks.find(({ isEntry }) => isEntry).fileName);
}

async function byEsbuild(entry, options) {
  const always = { bundle: true, minify: true, format: "esm", write: false, metafile: true, outdir: "out" };
  const result = await esbuild({ entryPoints: [entry], external: ["react"], ...always, ...options });
  const outputs = Object.entries(result.metafile.outputs);
  const codes = new Map(result.outputFiles.map(({ path, contents }) => [basename(path), contents]));
  const chunks = outputs.map(([name, { imports }]) => {
    const others = imports.filter(({ kind, external }) => kind === "import-statement" && !external);
    return [basename(name), { code: codes.get(basename(name)), imports: others.map(({ path }) => basename(path)) }];
  });
  return loaded(new Map(chunks), entry);
}

const sizes = {};
for (const [number, names] of process.argv.slice(2).entries()) {
  const [, part = "", wanted] = /^(?:(\w+): )?(.+)$/.exec(names);
  const entry = `entry-${number}.js`;
  writeFileSync(entry, `import { ${wanted} } from "jsonrill${part && `/${part}`}"; globalThis.used = [${wanted}];`);
  const split = await byEsbuild(entry, { splitting: true });
  sizes[names] = { vite: await byVite(entry), esbuild: split, one: await byEsbuild(entry, {}) };
}
console.log(JSON.stringify(sizes));
