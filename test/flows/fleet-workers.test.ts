import { fork } from 'node:child_process'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import type { Answer, Question } from '../support/cluster-gateway.ts'
import { startControlPlane, temporaryFolder } from '../support/fleet.ts'

const NOW = Math.floor(Date.now() / 1000)

async function startCluster(t: Test, port: number, workers: number) {
  const script = new URL('../support/cluster-gateway.ts', import.meta.url).pathname
  const url = `http://127.0.0.1:${port}`
  // Not tap's own loaders: they would slow every worker down.
  const child = fork(script, [url, temporaryFolder(t), `${workers}`], { execArgv: [] })
  t.teardown(async () => {
    const gone = once(child, 'exit')
    child.disconnect()
    await gone
  })
  await once(child, 'message')

  async function ask(host: string): Promise<Answer> {
    const answered = once(child, 'message')
    child.send({ ask: host } satisfies Question)
    return ((await answered) as [Answer])[0]
  }
  async function untilAll(host: string, isTrue: (answer: Answer) => boolean): Promise<Answer> {
    const deadline = Date.now() + 120_000
    while (Date.now() < deadline) {
      const answer = await ask(host)
      if (answer.workersReady === workers && answer.workers.length === workers && isTrue(answer))
        return answer
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    throw new Error(`not in time: ${isTrue.toString()}`)
  }
  return { untilAll, send: (question: Question) => child.send(question) }
}

t.test(
  'worker processes serve what the primary has, and so does one that replaces another',
  async (t) => {
    const control = await startControlPlane(t)
    for (let count = 0; count < 200; count += 1) control.put(`t${count}`)
    const gateway = await startCluster(t, control.port, 2)
    await gateway.untilAll('t199.example', ({ workers }) =>
      workers.every(({ status }) => status === 200),
    )
    const revision = control.put('t7')
    control.revoke('t7', { all: NOW })
    t.same((await control.hub.settled(revision, 60_000)).applied, ['cluster'])
    t.same((await control.hub.revocationsSettled(60_000)).applied, ['cluster'])
    const before = await gateway.untilAll('t7.example', () => true)
    for (const worker of before.workers) t.match(worker, { revision, revokedAll: NOW })

    gateway.send({ kill: 'SIGKILL' })
    const isReplaced = ({ workers }: Answer) =>
      workers.some(({ pid }) => !before.workers.some((old) => old.pid === pid))
    const after = await gateway.untilAll('t7.example', isReplaced)
    for (const worker of after.workers) t.match(worker, { revision, revokedAll: NOW, status: 200 })
  },
)

t.test('a worker process that hangs neither blocks the others nor serves on', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const gateway = await startCluster(t, control.port, 2)
  const before = await gateway.untilAll('ada.example', ({ workers }) =>
    workers.every(({ status }) => status === 200),
  )
  gateway.send({ kill: 'SIGSTOP' })
  control.revoke('ada', { all: NOW })
  const receipt = await control.hub.revocationsSettled(60_000)
  t.match(receipt, { applied: ['cluster'], pending: [], unreachable: [] })
  const isReplaced = ({ workers }: Answer) =>
    workers.some(({ pid }) => !before.workers.some((old) => old.pid === pid))
  const after = await gateway.untilAll('ada.example', isReplaced)
  for (const worker of after.workers) t.equal(worker.revokedAll, NOW)
})
