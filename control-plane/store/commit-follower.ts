/**
 * Reads what other nodes have committed, in the order of commits, many times a second: the log is
 * the truth, and nothing else has to arrive. Whoever could not read for a while may go on from where
 * it was; whoever finds that rows are missing, or another database, starts over.
 */
import { SECOND_MS } from '../../shared/clock.ts'
import type { Nodes } from './engine.ts'
import type { LoggedNews } from './nodes.ts'

const POLL_MS = 100
const PAGE_ROWS = 500
/** From then on, nothing that is kept in memory can be relied on. */
const BEHIND_MS = 2 * SECOND_MS

interface Followed {
  readonly nodes: Pick<Nodes, 'nodeId' | 'head' | 'after'>
  readonly pollMs?: number
  readonly behindMs?: number
  /** Of another node; or of this one, which has not been answered whether it is kept. */
  readonly onNews: (news: LoggedNews) => void
  /** All up to there has been told. */
  readonly onHeard: (position: number) => void
  /** What was heard before says nothing of what is there now. */
  readonly onRestart: () => void
}

/** Settles once it is known where the log ends: what is read from then on is not older. */
export async function followCommits(followed: Followed) {
  const { nodes, pollMs = POLL_MS, behindMs = BEHIND_MS, onNews, onHeard, onRestart } = followed
  let known = await nodes.head()
  let readMs = performance.now()
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  /** What this node has told of itself, and will find in the log. */
  const told = new Set<number>()
  onHeard(known.position)

  function restart(head: typeof known) {
    known = head
    told.clear() // positions may come again
    onRestart()
  }

  async function readOn(): Promise<void> {
    const head = await nodes.head()
    if (head.epoch !== known.epoch || head.position < known.position) restart(head)
    while (known.position < head.position && !isClosed) {
      const rows = await nodes.after(known.position, PAGE_ROWS)
      if (rows[0]?.position !== known.position + 1) restart(head)
      else
        for (const news of rows) {
          const isToldHere = told.delete(news.position) && news.nodeId === nodes.nodeId
          if (!isToldHere) onNews(news)
          known = { epoch: head.epoch, position: news.position }
        }
    }
  }

  async function poll(): Promise<void> {
    const [askedMs, before] = [performance.now(), known]
    try {
      await readOn()
      readMs = askedMs
      if (known !== before) onHeard(known.position)
    } catch {
      // the database is away: `isBehind` says so
    }
    if (!isClosed) timer = setTimeout(again, pollMs).unref()
  }

  let polling = Promise.resolve()
  const again = () => void (polling = poll())
  timer = setTimeout(again, pollMs).unref()

  return {
    /** Whether others may have committed what this node has not heard of, for too long. */
    isBehind: () => performance.now() - readMs > behindMs,
    /** This node has been answered that its own is kept, and tells of it. */
    isTold(position: number) {
      if (position > known.position) told.add(position)
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await polling
    },
  }
}
