/** Work that is begun at a pace, whatever the one before still takes, as people do; and what came of it. */
import { Agent, request } from 'undici'

interface Asked {
  readonly port: number
  readonly path: string
  readonly cookie: string
  readonly userAgent: string
}

interface PacedLoadOptions {
  readonly perSecond: number
  /** A request of somebody who is signed in at `acme.localhost`, or anything else; throws if it failed. */
  readonly work: Asked | (() => Promise<void>)
  /** At the same time; what would be more is not begun, and counts as late: a slow machine is no failure. */
  readonly atOnceMax: number
}

const ANSWER_MS_MAX = 60_000

export function startPacedLoad({ perSecond, work, atOnceMax }: PacedLoadOptions) {
  const failures: string[] = []
  const underWay = new Set<Promise<void>>()
  const startedMs = performance.now()
  let [begun, done, late] = [0, 0, 0]
  const agent = new Agent({
    connections: 32,
    pipelining: 1,
    connect: { timeout: ANSWER_MS_MAX },
    headersTimeout: ANSWER_MS_MAX,
  })
  const once = typeof work === 'function' ? work : () => askOnce(agent, work)

  function begin() {
    if (underWay.size >= atOnceMax) return void late++
    const one = once().then(
      () => void done++,
      (error: Error) => void failures.push(error.message),
    )
    underWay.add(one)
    void one.then(() => underWay.delete(one))
  }
  const pacing = setInterval(() => {
    const due = ((performance.now() - startedMs) / 1000) * perSecond
    for (; begun < due; begun++) begin()
  }, 5)

  return {
    async stop() {
      clearInterval(pacing)
      await Promise.all(underWay)
      await agent.close()
      return { done, failures, late }
    },
  }
}

async function askOnce(dispatcher: Agent, { port, path, cookie, userAgent }: Asked): Promise<void> {
  const headers = { host: 'acme.localhost', cookie, 'user-agent': userAgent, accept: 'text/plain' }
  const signal = AbortSignal.timeout(ANSWER_MS_MAX)
  const options = { dispatcher, headers, signal }
  const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, options)
  await body.text()
  if (statusCode !== 200) throw new Error(`status ${statusCode}`)
}
