/**
 * Secrets are masked in a thread of its own: a text can be made that takes a second to look
 * through, and nobody else should wait for it.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { LIMITS } from '../../shared/limits.ts'

export interface UnmaskedFile {
  readonly path: string
  readonly text: string
}

export interface MaskedFile extends UnmaskedFile {
  /** How many secrets were in it. */
  readonly hidden: number
}

/** undefined: it took too long. */
export async function maskApart(
  files: readonly UnmaskedFile[],
  timeoutMs: number = LIMITS.maskingMsMax,
): Promise<readonly MaskedFile[] | undefined> {
  const worker = new Worker(new URL('./masking-worker.ts', import.meta.url), { workerData: files })
  const tooLong = AbortSignal.timeout(timeoutMs)
  try {
    const [masked] = (await once(worker, 'message', { signal: tooLong })) as [readonly MaskedFile[]]
    return masked
  } catch (error) {
    if (tooLong.aborted) return undefined
    throw error
  } finally {
    await worker.terminate()
  }
}
