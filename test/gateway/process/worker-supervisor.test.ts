import { EventEmitter } from 'node:events'
import type { Worker } from 'node:cluster'
import { pino } from 'pino'
import t from 'tap'
import { superviseWorkers } from '../../../gateway/process/worker-supervisor.ts'
import { systemClock } from '../../../shared/clock.ts'

/** As Node's: `disconnect` is never said where a socket was on its way to it when it died. */
class FakeWorker extends EventEmitter {
  readonly sent: unknown[] = []
  readonly process = { kill() {} }
  send(message: unknown) {
    this.sent.push(message)
  }
  isDead = () => false
  isConnected = () => true
}

t.test(
  'a worker that died in the middle of a hand-over holds up neither roll nor stop',
  async (t) => {
    const workers: FakeWorker[] = []
    const supervisor = superviseWorkers({
      size: 1,
      fork: () => {
        workers.push(new FakeWorker())
        return workers.at(-1) as unknown as Worker
      },
      onSpawn() {},
      onListening() {},
      onFailed: (line) => t.fail(line),
      onRestart() {},
      clock: systemClock,
      log: pino({ level: 'silent' }),
    })
    const listens = (worker: FakeWorker) =>
      worker.emit('message', { channel: 'life', type: 'listening', address: {} })
    listens(workers[0]!)
    supervisor.roll()
    const next = workers[1]!
    listens(next)
    while (workers[0]!.sent.length === 0) await new Promise(setImmediate)
    workers[0]!.emit('exit', null, 'SIGKILL')
    const stopped = supervisor.stop()
    next.emit('exit', 0, null)
    await stopped
    t.match(next.sent, [{ type: 'drain' }])
  },
)
