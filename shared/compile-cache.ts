/**
 * What V8 has made of our code, kept for the next start, which then takes half the time. It lies in
 * node_modules: whoever may write there may write the code itself, `npm ci` takes it away, and it
 * holds one entry for each file. Where that cannot be written, all is compiled as ever; what
 * NODE_COMPILE_CACHE or NODE_DISABLE_COMPILE_CACHE say goes first.
 */
import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

export const COMPILE_CACHE_FOLDER = fileURLToPath(
  new URL('../node_modules/.cache/compiled', import.meta.url),
)

/** Holds for what is imported after it: the entrances import the rest of their program by `import()`. */
export function keepCompiledCode(directory = COMPILE_CACHE_FOLDER): void {
  enableCompileCache({ directory })
}

/** Now, and not when the program ends: many are killed, and then nothing would be kept. */
export const writeCompiledCode = flushCompileCache
