/**
 * In a thread of its own: strangers' text can be made that takes a second to look through, or a
 * minute, and nobody else should wait for it.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

const MEMORY_MEGABYTES_MAX = 512

/** The first message of a program that lives for this alone; undefined: it took too long, or too much. */
export async function runApart<Result>(
  program: URL,
  given: unknown,
  timeoutMs: number,
): Promise<Result | undefined> {
  const worker = new Worker(program, {
    workerData: given,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MEGABYTES_MAX },
  })
  worker.on('error', () => {}) // one that comes behind the deadline is nobody's
  const tooLong = AbortSignal.timeout(timeoutMs)
  try {
    const [result] = (await once(worker, 'message', { signal: tooLong })) as [Result]
    return result
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (tooLong.aborted || code === 'ERR_WORKER_OUT_OF_MEMORY') return undefined
    throw error
  } finally {
    await worker.terminate()
  }
}
