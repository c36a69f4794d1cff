// The sizes of what a program imports: node sizes.mjs "ENTRY: NAME" … prints bytes as JSON, after minification and
// compression, as one file that esbuild makes.

import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const sizes = {};
for (const wanted of process.argv.slice(2)) {
  const [entry, name] = wanted.split(": ");
  const contents = `export { ${name} } from ${JSON.stringify(entry)};`;
  const options = { bundle: true, minify: true, format: "esm", target: "es2022", external: ["react"], write: false };
  const { outputFiles } = await build({ ...options, stdin: { contents, resolveDir: process.cwd() } });
  sizes[wanted] = gzipSync(outputFiles[0].contents, { level: 9 }).length;
}
console.log(JSON.stringify(sizes));
