/** What goes on while things are killed, and what its clients remember of it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Browser } from '../../test/support/browser.ts'
import type { Change, Kind, LetIn, Outcome } from './history.ts'
import { TENANT, type World } from './world.ts'

interface Session {
  readonly sid: string
  readonly browser: Browser
  /** Somebody has tried to; whether it is over is not known before the answer. */
  isAsked: boolean
  /** Gateways for which the answer to its revocation stands. */
  refusing: ReadonlySet<string>
}

/** Signed in at one time; the oldest is revoked then. */
const SESSIONS_MAX = 4
/** Revoked ones whose cookies are still tried. */
const REVOKED_TRIED = 20
const PAUSE_MS = 20
/** Links beside the gateways'. */
const WATCHERS = 1
/** Behind an answer that was lost: nobody may be there for a while. */
const LOST_PAUSE_MS = 200
const OK = 200

export function startLoad(world: World, onAnswer: () => void) {
  const changes: Change[] = []
  const sessions: Session[] = []
  const letIn: LetIn[] = []
  const shutOut = new Set<string>()
  const newcomers: string[] = []
  const failed = new Map<string, number>()
  let isOver = false
  let signIns = 0
  let probes = 0

  /** Until the end, whatever becomes of one turn. */
  async function repeat(turn: (count: number) => Promise<void>) {
    for (let count = 0; !isOver; count++) {
      try {
        await turn(count)
      } catch (error) {
        const { message } = error as Error
        failed.set(message, (failed.get(message) ?? 0) + 1)
      }
      await sleep(PAUSE_MS)
    }
  }

  async function change(kind: Kind, key: string, method: string, path: string, body: unknown) {
    const asked = world.operator(method, `/tenants/${TENANT}${path}`, body)
    const answer = await asked.catch(() => undefined)
    const outcome = outcomeOf(answer?.status)
    changes.push({ kind, key, outcome })
    if (outcome === 'acknowledged') onAnswer()
    if (outcome === 'lost') await sleep(LOST_PAUSE_MS)
    return outcome === 'acknowledged' ? answer?.body : undefined
  }

  async function rename(count: number) {
    const name = `Name ${count}`
    await change('rename', name, 'PATCH', '', { name })
  }

  async function create(count: number) {
    if (newcomers.length > SESSIONS_MAX) return
    const username = `person-${count}`
    const { password } = world
    const person = { username, email: `${username}@example.test`, name: username, password }
    if (await change('user', username, 'POST', '/users', person)) newcomers.push(username)
  }

  async function signIn(count: number) {
    const username = newcomers.shift()
    if (username === undefined) return
    const browser = new Browser()
    const { url } = world.gateways[count % world.gateways.length]!
    let sid: string | undefined
    try {
      const form = await browser.open(`${url}/work`)
      if (form.status !== OK) throw new Error(`the page to sign in was a ${form.status}`)
      const page = await browser.submit(form, { username, password: world.password })
      const me = await browser.fetch(`${url}/service/me`)
      if (me.status === OK) sid = (JSON.parse(me.text) as { sid: string }).sid
      else throw new Error(`a sign-in ended with ${page.status}, and ${me.status} behind it`)
    } catch (error) {
      newcomers.push(username) // once more, some time
      await Promise.all([browser.close(), sleep(LOST_PAUSE_MS)])
      throw error
    }
    signIns += 1
    sessions.push({ sid, browser, isAsked: false, refusing: new Set() })
    onAnswer()
  }

  async function revoke() {
    const alive = sessions.filter(({ isAsked }) => !isAsked)
    const oldest = alive[0]
    if (oldest === undefined || alive.length < SESSIONS_MAX) return
    oldest.isAsked = true
    const { sid } = oldest
    const answer = await change('revocation', sid, 'POST', '/revocations', { sid })
    if (answer !== undefined) oldest.refusing = promisedBy(answer)
  }

  /** Whom the answer does not name refuses the session by now. */
  function promisedBy(answer: Record<string, unknown>): Set<string> {
    const enforced = answer['enforced'] as Record<'of', number> & Record<string, string[]>
    const { of, pending = [], unreachable = [], not_durable = [] } = enforced
    const all = world.gateways.map(({ name }) => name)
    // a control plane that has just started does not know yet who is away
    if (of + unreachable.length < all.length + WATCHERS) return new Set()
    const named = [...pending, ...unreachable, ...not_durable]
    return new Set(all.filter((name) => !named.includes(name)))
  }

  async function probe() {
    const revoked = sessions.filter(({ isAsked }) => isAsked).slice(-REVOKED_TRIED)
    for (const session of [...revoked, ...sessions.filter(({ isAsked }) => !isAsked)])
      for (const { name, url } of world.gateways) await ask(session, name, url)
  }

  async function ask(session: Session, gateway: string, url: string) {
    const { sid, browser, refusing } = session
    const answer = await browser.fetch(`${url}/work`).catch(() => undefined)
    probes += 1
    if (answer?.status === OK && refusing.has(gateway)) letIn.push({ sid, gateway })
    if (answer?.status === 401 && !session.isAsked) shutOut.add(sid)
  }

  const clients = [repeat(rename), repeat(create), repeat(signIn), repeat(revoke), repeat(probe)]
  return {
    changes,
    letIn,
    shutOut,
    failed,
    signedIn: () => sessions.map(({ sid }) => sid),
    count: (outcome: Outcome) => changes.filter((change) => change.outcome === outcome).length,
    figures: () => ({ signIns, probes }),
    async stop() {
      isOver = true
      await Promise.all(clients)
    },
    /** Once all is there again, no gateway may let in what is over, whatever was promised. */
    async lastProbe(revoked: ReadonlySet<string>) {
      const all = new Set(world.gateways.map(({ name }) => name))
      for (const session of sessions) {
        if (revoked.has(session.sid)) Object.assign(session, { isAsked: true, refusing: all })
        for (const { name, url } of world.gateways) await ask(session, name, url)
      }
      await Promise.all(sessions.map(({ browser }) => browser.close()))
    },
  }
}

/** Of a server's trouble nobody knows how far it came. */
function outcomeOf(status: number | undefined): Outcome {
  if (status === undefined || status >= 500) return 'lost'
  return status < 300 ? 'acknowledged' : 'refused'
}
