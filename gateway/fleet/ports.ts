/** The lines that the relay runs on: node:cluster's channels. */
import type { Worker } from 'node:cluster'
import type { PrimaryPort, ToPrimary, ToWorker, WorkerPort } from './relay-messages.ts'

/** In the primary. Other parts may use the same worker's channel for messages of their own. */
export function clusterWorkerPort(worker: Worker): WorkerPort {
  return {
    send(message) {
      // A worker that dies at this moment is noticed by its exit, not by a failed send.
      if (worker.isConnected()) worker.send(message, () => {})
    },
    onMessage: (listener) =>
      void worker.on('message', (message: ToPrimary) => {
        if (isOurs(message)) listener(message)
      }),
    onClose: (listener) => {
      worker.once('exit', listener)
      worker.once('disconnect', listener)
    },
    kill: () => void worker.process.kill('SIGKILL'),
  }
}

/** In a worker: `clusterPrimaryPort(process)`. */
export function clusterPrimaryPort(channel: NodeJS.Process): PrimaryPort {
  return {
    send(message) {
      if (channel.connected) channel.send?.(message, undefined, undefined, () => {})
    },
    onMessage: (listener) =>
      void channel.on('message', (message: ToWorker) => {
        if (isOurs(message)) listener(message)
      }),
    onClose: (listener) => void channel.once('disconnect', listener),
    kill: () => channel.disconnect?.(),
  }
}

function isOurs(message: unknown): boolean {
  return (message as { channel?: unknown } | null)?.channel === 'tenants'
}
