/** Every action of the table × forms as no page of ours sends them: refused, and nothing is done. */
import t from 'tap'
import type { Declaration } from '../../../control-plane/console/route.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startConsole } from '../../support/console.ts'
import { fillStore } from './filled-store.ts'

const FORM = 'application/x-www-form-urlencoded'

async function startActions(t: Parameters<typeof startConsole>[0]) {
  const world = await startConsole(t)
  const grace = await world.person('operator')
  const ids = await fillStore(world)
  const { proofs } = world.services.consoleAccess
  let asked = 0
  return {
    actions: world.routes
      .map(({ declaration }) => declaration)
      .filter(({ method, role }) => method === 'POST' && role !== 'anyone'),
    at: ({ path }: Declaration) =>
      path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => ids[name] ?? ''),
    proofs: () => `csrf=${proofs.csrf(grace.userId)}&form_id=${proofs.newFormId(grace.userId)}`,
    async send(path: string, body: string | Buffer, type: string | undefined = FORM) {
      const headers = {
        cookie: grace.cookie,
        accept: 'text/html',
        ...(type !== '' && { 'content-type': type }),
      }
      const address = `10.0.${(asked >> 8) & 255}.${asked++ & 255}`
      const url = world.services.baseUrl + path
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      return world.app.request(url, { method: 'POST', headers, body: bytes }, { address })
    },
    /** Session continues without it. */
    trail: async () => (await world.services.auditTrail.list({ limit: 1 })).items[0],
  }
}

void t.test('a form that is no form is refused', async (t) => {
  const { actions, at, send, proofs, trail } = await startActions(t)
  const before = await trail()
  for (const declaration of actions) {
    const path = at(declaration)
    for (const type of ['application/json', 'multipart/form-data; boundary=x', 'text/plain', ''])
      t.match(await send(path, proofs(), type), { status: 400 }, `POST ${path} as “${type}”`)
    const large = `${proofs()}&a=${'x'.repeat(LIMITS.consoleFormBytesMax)}`
    t.match(await send(path, large), { status: 413 }, `POST ${path}, too large`)
    for (const lacking of ['', 'csrf=', proofs().replace(/&.*/, ''), proofs().replace(/.*&/, '')])
      t.match(await send(path, lacking), { status: 403 }, `POST ${path} without a proof`)
  }
  t.same(await trail(), before, 'and nothing was done')
})

void t.test('a field that comes twice is refused, whichever it is', async (t) => {
  const { actions, at, send, proofs, trail } = await startActions(t)
  const before = await trail()
  for (const declaration of actions) {
    const path = at(declaration)
    const single = Object.entries(declaration.form ?? {}).filter(([, kind]) => kind !== 'choices')
    for (const name of ['csrf', 'form_id', 'odd', ...single.map(([field]) => field)]) {
      const twice = await send(path, `${proofs()}&${name}=a&${name}=a`)
      t.match(twice, { status: 400 }, `POST ${path}, ${name} twice`)
    }
  }
  t.same(await trail(), before, 'and nothing was done')
})

void t.test('strange bytes and names break nothing', async (t) => {
  const { actions, at, send, proofs } = await startActions(t)
  const withForm = actions.filter(({ form = {} }) => Object.keys(form).length > 0)
  for (const declaration of withForm) {
    const path = at(declaration)
    const [field = ''] = Object.keys(declaration.form ?? {})
    for (const [what, rest] of [
      ['names of an object', '__proto__=1&constructor=1&toString=1&hasOwnProperty=1'],
      ['broken escapes', `${field}=%zz%&%=%`],
      ['no UTF-8', Buffer.from([0x26, 0xff, 0xfe, 0x3d, 0xc0, 0x80])],
      ['ten thousand fields', Array.from({ length: 10_000 }, (_, at) => `f${at}=1`).join('&')],
      ['a long name', `${'n'.repeat(10_000)}=1`],
      ['NUL', `${field}=%00`],
    ] as const) {
      const body = Buffer.concat([Buffer.from(`${proofs()}&`), Buffer.from(rest)])
      const { status } = await send(path, body)
      t.ok(status < 500, `POST ${path}, ${what}: ${status}`)
    }
  }
})
