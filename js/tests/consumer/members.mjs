// What the package's types know: the names of each entry, the options of each function, and the
// public members of each class.

import ts from "typescript";

const options = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, strict: true };
const entries = ["index", "repair", "observe", "react"].map((name) => `node_modules/jsonrill/src/${name}.d.ts`);
const program = ts.createProgram(entries, options);
const checker = program.getTypeChecker();

const names = (type) => type.getProperties().map((property) => property.name);
const isPublic = (name) => !/^(_|#)/.test(name) && !name.startsWith("__");
const known = {};
for (const file of entries) {
  const module = checker.getSymbolAtLocation(program.getSourceFile(file));
  const exported = (known[/(\w+)\.d\.ts/.exec(file)[1]] = {});
  for (const symbol of checker.getExportsOfModule(module)) {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const place = target.valueDeclaration;
    exported[symbol.name] = { options: [], members: [] };
    if (!place) continue; // a type
    const type = checker.getTypeOfSymbolAtLocation(target, place);
    const [construct] = type.getConstructSignatures();
    const [call] = type.getCallSignatures();
    const last = (construct ?? call)?.parameters.at(-1);
    const argument = last && checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(last, place));
    // A list of arguments may end with options, too.
    const element = argument && (checker.getIndexTypeOfType(argument, ts.IndexKind.Number) ?? argument);
    const isObject = (one) => one && one.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection);
    const of = element?.isUnion() ? element.types : [element];
    exported[symbol.name] = {
      options: of.flatMap((one) => (isObject(one) ? names(one) : [])),
      members: construct ? names(construct.getReturnType()).filter(isPublic) : [],
    };
  }
}
console.log(JSON.stringify(known));
