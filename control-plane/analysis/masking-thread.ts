/** Secrets are masked apart from everything else. */
import { LIMITS } from '../../shared/limits.ts'
import { runApart } from './apart.ts'

export interface UnmaskedFile {
  readonly path: string
  readonly text: string
}

export interface MaskedFile extends UnmaskedFile {
  /** How many secrets were in it. */
  readonly hidden: number
}

/** undefined: it took too long. */
export const maskApart = (
  files: readonly UnmaskedFile[],
  timeoutMs: number = LIMITS.maskingMsMax,
): Promise<readonly MaskedFile[] | undefined> =>
  runApart(new URL('./masking-worker.ts', import.meta.url), files, timeoutMs)
