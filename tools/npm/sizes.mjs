// node sizes.mjs NAMES…: the bytes that a bundler leaves of the package for each import, minified and gzipped,
// JSON on stdout. "react: useStream" is an import from jsonrill/react; "repair, values" imports jsonrill/repair, too.
// `first` does not count what is loaded later, with import(); `one` is everything in one file.

import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const later = {
  name: "later",
  setup: (it) => it.onResolve({ filter: /./ }, ({ kind }) => (kind === "dynamic-import" ? { external: true } : null)),
};

async function size(contents, plugins) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: "." },
    ...{ bundle: true, minify: true, format: "esm", write: false, external: ["react"], plugins },
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}

const sizes = {};
for (const names of process.argv.slice(2)) {
  const [, also = "", part = "", wanted] = /^(?:(repair|split), )?(?:(\w+): )?(.+)$/.exec(names);
  const more = also && `import "jsonrill/${also}";`;
  const contents = `${more} export { ${wanted} } from "jsonrill${part && `/${part}`}";`;
  sizes[names] = { first: await size(contents, [later]), one: await size(contents, []) };
}
console.log(JSON.stringify(sizes));
