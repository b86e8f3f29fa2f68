/** The thread that masks what a customer sends: it lives for one analysis. */
import { parentPort, workerData } from 'node:worker_threads'
import { maskSecrets } from '../../shared/integration/masking.ts'
import type { MaskedFile, UnmaskedFile } from './masking-thread.ts'

const files = workerData as readonly UnmaskedFile[]
parentPort?.postMessage(
  files.map(({ path, text }): MaskedFile => {
    const masked = maskSecrets(text, path)
    return { path, text: masked.text, hidden: masked.hidden.length }
  }),
)
