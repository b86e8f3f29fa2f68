/** `npm run gateway -- --config FILE`. One file for both kinds of process. */
import { keepCompiledCode } from '../shared/compile-cache.ts'

keepCompiledCode() // holds for what is loaded behind it: so next to nothing is loaded before
const { runProgram } = await import('./program.ts')
await runProgram(process.argv.slice(2))
