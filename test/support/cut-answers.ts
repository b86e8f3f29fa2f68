/** An application whose answer breaks off at any byte, and what becomes of each such answer. */
import type { Test } from 'tap'
import { startRawOrigin } from './wire.ts'

type T = Pick<Test, 'teardown'>

export const CUT_ANSWERS = {
  'content-length': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  chunked:
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nyou\r\n0\r\nX-T: a\r\n\r\n',
  'early hints':
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
} as const

const FINE = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine'

/** How a connection breaks: in good order, or with a reset. */
export const ENDINGS = ['end', 'reset'] as const

export type CutOrigin = Awaited<ReturnType<typeof startCutOrigin>>

/** Answers `/fine` whole, and everything else as far as it is told. */
export async function startCutOrigin(t: T) {
  const cut = { answer: '', bytes: 0, ending: 'end' as (typeof ENDINGS)[number] }
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes(' /fine ')) return void socket.write(FINE)
      socket.write(cut.answer.slice(0, cut.bytes), () => {
        if (cut.ending === 'end') socket.end()
        else setImmediate(() => socket.resetAndDestroy())
      })
    })
  })
  return { ...origin, cut }
}

export interface CutCounts {
  cases: number
  /** A whole 502 of ours. */
  refused: number
  /** Ended so that nobody can take it for whole. */
  cut: number
  /** What must not be: taken for whole, or another status. */
  readonly wrong: string[]
}

export interface Outcome {
  readonly status: number
  readonly isWhole: boolean
}

/** Undefined: ended without a head. */
export type AskForCut = (path: string) => Promise<Outcome | undefined>

/** Every length of every answer; behind each one a request that the same pool must answer. */
export async function askEveryCut(
  { cut }: CutOrigin,
  ask: AskForCut,
  every = 1,
): Promise<CutCounts> {
  const counts: CutCounts = { cases: 0, refused: 0, cut: 0, wrong: [] }
  for (const [name, answer] of Object.entries(CUT_ANSWERS))
    for (const ending of ENDINGS)
      for (let bytes = 0; bytes < answer.length; bytes += every) {
        Object.assign(cut, { answer, bytes, ending })
        const outcome = await ask('/cut')
        counts.cases++
        if (outcome?.status === 502 && outcome.isWhole) counts.refused++
        else if (outcome === undefined || (outcome.status === 200 && !outcome.isWhole)) counts.cut++
        else counts.wrong.push(`${name}, ${ending} at ${bytes}: ${JSON.stringify(outcome)}`)
        const next = await ask('/fine')
        if (next?.status !== 200 || !next.isWhole)
          counts.wrong.push(`${name}, ${ending} at ${bytes}: then ${JSON.stringify(next)}`)
      }
  return counts
}
