/**
 * What `npm run lint` and `npm run types` say of the code, and in one process: types are what
 * most of both is about, and here they are worked out once.
 */
import { fileURLToPath } from 'node:url'
import { ESLint } from 'eslint'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
process.chdir(ROOT)

const programs = ['tsconfig.json', '.config/tsconfig.browser.json'].map(programOf)
const eslint = new ESLint({
  overrideConfigFile: '.config/eslint.config.js',
  overrideConfig: { files: ['**/*.ts'], languageOptions: { parserOptions: { programs } } },
})
const results = await eslint.lintFiles(['.'])
const { format } = await eslint.loadFormatter('stylish')
const complaints = [await format(results), ...programs.map(diagnosticsOf)]
process.stdout.write(complaints.join(''))
process.exitCode = complaints.some((text) => text !== '') ? 1 : 0

function programOf(file: string): ts.Program {
  const host: ts.ParseConfigFileHost = {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
      throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'))
    },
  }
  const config = ts.getParsedCommandLineOfConfigFile(`${ROOT}${file}`, { noEmit: true }, host)
  if (config === undefined) throw new Error(`${file} cannot be read`)
  const { fileNames: rootNames, options, errors: configFileParsingDiagnostics } = config
  return ts.createProgram({ rootNames, options, configFileParsingDiagnostics })
}

/** As `tsc` tells them. */
function diagnosticsOf(program: ts.Program): string {
  return ts.formatDiagnostics(ts.getPreEmitDiagnostics(program), {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => ROOT,
    getNewLine: () => '\n',
  })
}
