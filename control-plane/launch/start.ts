/** `npm start`. */
import { keepCompiledCode, writeCompiledCode } from '../../shared/compile-cache.ts'

keepCompiledCode() // holds for what is loaded behind it: so next to nothing is loaded before
const { runPrograms } = await import('./all-programs.ts')
writeCompiledCode()
await runPrograms(process.argv.slice(2))
