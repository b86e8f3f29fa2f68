/**
 * Threads for bcrypt: one for each that is computed at the same time, which the password turns
 * limit. They start when they are needed and end when they have had nothing to do for a while.
 */
import { Worker } from 'node:worker_threads'
import { MINUTE_MS } from '../../../shared/clock.ts'
import type { BcryptQuestion } from './bcrypt-worker.ts'

export interface BcryptThreads {
  hash(question: BcryptQuestion): Promise<string>
  close(): Promise<void>
}

const IDLE_MS = MINUTE_MS

export function createBcryptThreads(): BcryptThreads {
  const all = new Set<Worker>()
  const idle: { readonly worker: Worker; readonly timer: NodeJS.Timeout }[] = []

  function start(): Worker {
    const worker = new Worker(new URL('./bcrypt-worker.ts', import.meta.url))
    worker.unref()
    all.add(worker)
    worker.once('exit', () => {
      all.delete(worker)
      const at = idle.findIndex((one) => one.worker === worker)
      if (at >= 0) clearTimeout(idle.splice(at, 1)[0]?.timer)
    })
    return worker
  }

  function take(): Worker {
    const known = idle.pop()
    if (known === undefined) return start()
    clearTimeout(known.timer)
    return known.worker
  }

  function rest(worker: Worker) {
    const timer = setTimeout(() => void worker.terminate(), IDLE_MS)
    timer.unref()
    idle.push({ worker, timer })
  }

  return {
    async hash(question) {
      const worker = take()
      worker.ref() // whoever waits for the answer keeps the process
      const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
      const fail = () => reject(new Error('the bcrypt thread has ended'))
      worker.once('message', resolve)
      worker.once('error', fail)
      worker.once('exit', fail)
      try {
        worker.postMessage(question)
        const answer = await promise
        if (answer === undefined) throw new Error('bcrypt could not be computed')
        rest(worker)
        return answer
      } catch (error) {
        void worker.terminate()
        throw error
      } finally {
        worker.unref()
        worker.off('message', resolve)
        worker.off('error', fail)
        worker.off('exit', fail)
      }
    },
    async close() {
      for (const { timer } of idle.splice(0)) clearTimeout(timer)
      await Promise.all([...all].map((worker) => worker.terminate()))
    },
  }
}
