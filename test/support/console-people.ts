/** The people of a tenant as the console shows them: made, signed in, and written to. */
import { HOUR_MS } from '../../shared/clock.ts'
import { startConsole } from './console.ts'
import { ACTOR, movableClock } from './control-plane.ts'
import { FIREFOX } from './sign-ins.ts'

interface Mail {
  readonly to: string
  readonly text: string
}

interface Wish {
  readonly tenantId?: string
  readonly password?: string
}

const USERS = '/console/tenants/acme/users'

/** An administrator of `acme` looks at them. */
export async function startPeople(t: Parameters<typeof startConsole>[0]) {
  const clock = movableClock()
  const mails: Mail[] = []
  const mailTransport = {
    send: async (mail: Mail) => void mails.push(mail),
    close: () => undefined,
  }
  const world = await startConsole(t, { clock, mailTransport })
  const { services, person } = world
  const create = (username: string, name = username, wish: Wish = {}) => {
    const { tenantId = 'acme', password = '' } = wish
    const email = `${username}@${tenantId}.test`
    return services.users.create(tenantId, { username, email, name, password }, ACTOR)
  }
  const session = (userId: string, sid: string, ip = '192.0.2.1') =>
    services.sessions.record({
      ...{ tenantId: 'acme', sid, userId, ip, userAgent: FIREFOX },
      issuedAtMs: clock.nowMs(),
      expiresAtMs: clock.nowMs() + 8 * HOUR_MS,
    })
  const admin = await person('acme')
  /** The usernames on a page of the list, in their order. */
  const names = async (search: string) =>
    [
      ...(await admin.get(`${USERS}?${search}`)).text.matchAll(
        /class="hint">(?:[^<]* · )?([^<@]*)@acme\.test</g,
      ),
    ].map(([, name]) => name)
  return { ...world, clock, mails, create, session, admin, names }
}
