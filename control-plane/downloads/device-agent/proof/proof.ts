/** The port as it is kept open, and what a challenge is answered with. */
import type { Log } from '../../resident/log.ts'
import { KeyLost } from '../key/open-key.ts'
import { Refused } from '../service/agent-service.ts'
import type { Chain } from '../running/chain.ts'
import { createSleeper } from '../../resident/sleeper.ts'
import { cidIn } from './challenge.ts'
import type { LoopbackListener } from '../../resident/loopback.ts'
import { openProofListener, type CodeOrNot } from './listener.ts'

interface ProofWorld {
  readonly port: number
  readonly chain: Pick<Chain, 'prove' | 'code' | 'device'>
  readonly log: Log
  /** Told when it listens, and when it cannot: '' or why. */
  readonly onListening: (port: number, problem: string) => Promise<void>
  /** Between two tries for a port that is taken. */
  readonly againMs: number
}

/** The service has a minute for all of it; a person does not wait that long. */
const PROVE_MS_MAX = 15_000

export function createProof({ port, chain, log, onListening, againMs }: ProofWorld) {
  const stopped = new AbortController()
  const sleeper = createSleeper(stopped.signal)
  let listener: LoopbackListener | undefined

  async function prove(challenge: string): Promise<URL | 'not_ours' | null> {
    const { confirm, ...pinned } = chain.device()
    const cid = cidIn(challenge, pinned)
    if (cid === null) return 'not_ours'
    const back = (fields: Readonly<Record<string, string>>) => {
      const url = new URL(confirm)
      for (const [name, value] of Object.entries({ cid, ...fields }))
        url.searchParams.set(name, value)
      return url
    }
    try {
      return back({ code: await chain.prove(cid, soon()) })
    } catch (error) {
      const said = wordOf(error)
      if (said !== undefined) return back({ error: said })
      log.warn({ error: String(error) }, 'a sign-in could not be answered')
      return null
    }
  }

  async function code(): Promise<CodeOrNot> {
    try {
      const { code, expires_s } = await chain.code(soon())
      return { code, expires_s }
    } catch (error) {
      log.warn({ error: String(error) }, 'a code could not be had')
      return { error: wordOf(error) ?? 'unreachable' }
    }
  }

  const soon = () => AbortSignal.any([stopped.signal, AbortSignal.timeout(PROVE_MS_MAX)])

  return {
    /** Settles when it is stopped. A port that is taken is tried again for as long as it runs. */
    async run(): Promise<void> {
      let isTold = false
      while (!stopped.signal.aborted) {
        try {
          listener = await openProofListener(port, { prove, code })
          log.info({ port: listener.port }, 'sign-ins can be answered on 127.0.0.1')
          await onListening(listener.port, '')
          break
        } catch (error) {
          const { code = 'unknown' } = error as NodeJS.ErrnoException
          const problem = problemOf(code, port)
          if (!isTold) log.warn({ port, code }, problem)
          isTold = true
          await onListening(port, problem)
          await sleeper.sleep(againMs)
        }
      }
      await new Promise<void>((resolve) => {
        if (stopped.signal.aborted) return resolve()
        stopped.signal.addEventListener('abort', () => resolve())
      })
      await listener?.close()
    },
    stop: () => stopped.abort(),
  }
}

/** What the service has said; undefined: it could not be asked. */
function wordOf(error: unknown): string | undefined {
  if (error instanceof KeyLost) return 'device_key_lost'
  const isSaid = error instanceof Refused && error.status < 500 && error.status !== 429
  return isSaid && error.code !== '' ? error.code : undefined
}

const problemOf = (code: string, port: number): string =>
  code === 'EADDRINUSE'
    ? `port ${port} is taken by another program, so no sign-in can be answered: it is tried again`
    : `port ${port} cannot be listened on (${code}), so no sign-in can be answered: it is tried again`
