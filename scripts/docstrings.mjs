/** Finds what a folder of TypeScript exports without saying what it is. */
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'

/**
 * @param {string} folder whose `.ts` files are looked at.
 * @returns {string[]} `file: name` of each exported declaration, and of each public method of an exported class, that has
 *   no words: neither a sentence nor one on a parameter or on what is returned.
 */
export function undocumented(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => join(folder, name))
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    allowImportingTsExtensions: true,
    noEmit: true,
    noResolve: true,
    noLib: true,
  })
  const checker = program.getTypeChecker()
  return files.flatMap(file => {
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    if (module === undefined) return []
    return checker
      .getExportsOfModule(module)
      .filter(({ declarations = [] }) => declarations.some(({ kind }) => kind !== ts.SyntaxKind.ExportSpecifier))
      .flatMap(symbol => [symbol, ...publicMethods(symbol)])
      .filter(symbol => !says(symbol, checker))
      .map(symbol => `${relative(folder, file)}: ${nameOf(symbol)}`)
  })
}

const says = (symbol, checker) =>
  [symbol.getDocumentationComment(checker), ...symbol.getJsDocTags(checker).map(({ text }) => text)].some(
    parts => ts.displayPartsToString(parts).trim() !== '',
  )

/** Those that answer to an interface or a base class say what they are there. */
const isOverride = node => (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Override) !== 0
const isPublic = node =>
  (ts.getCombinedModifierFlags(node) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) === 0

const publicMethods = ({ declarations = [] }) =>
  declarations.filter(ts.isClassDeclaration).flatMap(({ heritageClauses, members }) =>
    members
      .filter(member => ts.isMethodDeclaration(member) || ts.isGetAccessor(member))
      .filter(member => isPublic(member) && !isOverride(member) && heritageClauses === undefined)
      .map(({ symbol }) => symbol),
  )

const nameOf = symbol => (symbol.parent?.flags & ts.SymbolFlags.Class ? `${symbol.parent.name}.` : '') + symbol.name
