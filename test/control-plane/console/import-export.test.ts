/** Users from a file and into one: nothing is changed unseen, and no cell of it is a formula. */
import t from 'tap'
import { csvLine, readCsv, withoutGuard } from '../../../control-plane/requests/csv.ts'
import { takeRate } from '../../../control-plane/store/queries/rates.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'

const USERS = '/console/tenants/acme/users'
const IMPORT = `${USERS}/import`
const EVERY_MS = 3_600_000 / LIMITS.rateInvitations.burst

async function startImport(t: Parameters<typeof startConsole>[0]) {
  const mails: { to: string }[] = []
  const mailTransport = {
    send: async (mail: { to: string }) => void mails.push(mail),
    close: () => undefined,
  }
  const clock = movableClock()
  const world = await startConsole(t, { mailTransport, clock })
  const admin = await world.person('acme')
  const create = (username: string, name = username) =>
    world.services.users.create(
      'acme',
      { username, email: `${username}@acme.test`, name, password: '' },
      ACTOR,
    )
  const count = async () => (await world.services.users.list('acme', { limit: 200 })).items.length
  return { ...world, admin, clock, create, mails, count }
}

void t.test('a dry run says what is wrong in which line, and imports nothing', async (t) => {
  const { admin, create, count } = await startImport(t)
  await create('ada')
  const csv = [
    'email,name,username',
    'bob@acme.test,"Bob ""the Builder""",bob',
    'no address,Nobody,',
    'ADA@acme.test,Ada,other',
    'carol@acme.test,Carol,BOB',
    'dan@acme.test,Dan',
    'eve@acme.test,Eve,mallory@acme.test',
    'fay@acme.test,"Fay',
    'of two lines",fay',
  ].join('\r\n')
  const { text } = await admin.post(IMPORT, { csv })
  t.match(text, /1 user can be imported\. 6 lines have problems/)
  t.match(text, /no address.*email: must be an e-?mail address/s)
  t.match(text, />4<.*ADA@acme\.test.*already exists/s)
  t.match(text, />5<.*carol@acme\.test.*Same email address or username as line 2/s)
  t.match(text, />6<.*dan@acme\.test.*2 values instead of 3/s)
  t.match(text, />7<.*eve@acme\.test.*@ must be/s)
  t.match(text, />8<.*fay@acme\.test.*name: must be text/s)
  t.match(text, 'Bob &quot;the Builder&quot;')
  t.equal(await count(), 1)
})

void t.test(
  'who is imported is invited, once, and who is taken meanwhile is skipped',
  async (t) => {
    const { services, admin, create, mails, count } = await startImport(t)
    const csv = 'email;name\nbob@acme.test;Bob\nadä@acme.test;x\ncarol@acme.test;\n'
    await create('carol')
    const { text } = await admin.get(IMPORT)
    const form_id = /name="form_id" value="([^"]+)"/.exec(
      text.slice(text.indexOf(`action="${IMPORT}"`)),
    )?.[1]
    const form = { csv, form_id: form_id ?? '' }
    const done = await admin.post(`${IMPORT}/confirm`, form)
    t.match((await admin.get(done.location)).text, /[12] users? imported\. [12] skipped/)
    const twice = await admin.post(`${IMPORT}/confirm`, form)
    t.equal(twice.location, done.location, 'sent twice')
    await services.mails.deliver()
    t.ok(mails.some(({ to }) => to === 'bob@acme.test'))
    t.notOk(mails.some(({ to }) => to === 'carol@acme.test'))
    t.match(await services.users.byLogin('acme', 'bob@acme.test'), {
      name: 'Bob',
      passwordHash: '',
    })
    t.ok((await count()) >= 2)
  },
)

void t.test('a file is read as UTF-8, and as large as a form may be', async (t) => {
  const { app, admin, services, count } = await startImport(t)
  const { proofs } = services.consoleAccess
  async function upload(bytes: Uint8Array<ArrayBuffer>) {
    const body = new FormData()
    body.set('csrf', proofs.csrf(admin.userId))
    body.set('form_id', proofs.newFormId(admin.userId))
    body.set('csv', '')
    body.set('file', new Blob([bytes]), 'users.csv')
    const request = new Request(services.baseUrl + IMPORT, { method: 'POST', body })
    const answer = await app.request(
      request.url,
      {
        method: 'POST',
        body: await request.arrayBuffer(),
        headers: {
          cookie: admin.cookie,
          accept: 'text/html',
          'content-type': request.headers.get('content-type') ?? '',
        },
      },
      { address: '127.0.0.1' },
    )
    return { status: answer.status, text: await answer.text() }
  }
  const good = await upload(Buffer.from('\ufeffemail,name\r\njo@acme.test,Jörg\r\n'))
  t.match(good, { status: 200, text: /1 user can be imported.*Jörg/s })
  const latin = await upload(Buffer.from('email,name\njo@acme.test,J\xf6rg\n', 'latin1'))
  t.match(latin, { text: /not UTF-8/ })
  const large = await upload(Buffer.alloc(LIMITS.userImportBytesMax + 1, 'x'))
  t.match(large, { status: 422, text: /at most 128 KB/ })
  const lines = Array.from(
    { length: LIMITS.usersImportedAtOnceMax + 1 },
    (_, at) => `u${at}@acme.test`,
  )
  const many = await upload(Buffer.from(`email\n${lines.join('\n')}`))
  t.match(many.text, /At most 2,000 users at a time/)
  const fits = await upload(Buffer.from(`email\n${lines.slice(1).join('\n')}`))
  t.match(fits.text, /2,000 users can be imported/)
  t.equal(await count(), 0)
})

void t.test('a file that is no list of users says why', async (t) => {
  const { admin } = await startImport(t)
  const said = async (csv: string) =>
    (await admin.post(IMPORT, { csv })).text.replaceAll('&quot;', '"')
  t.match(await said('name\nBob'), 'The column "email" is missing.')
  t.match(await said('email,password\na@b.test,secret'), 'Passwords are not imported')
  t.match(await said('email,shoe size\na@b.test,42'), 'Unknown column "shoe size"')
  t.match(await said('email,email\na@b.test,a@b.test'), 'A column appears twice.')
  t.match(await said('email'), 'There are no users below the header line.')
  t.match(await said('email\n"a@b.test'), 'A quoted value is not closed.')
  t.match(await said(''), 'Choose a file or paste its lines.')
})

void t.test('an export holds whom the list shows, and no formula', async (t) => {
  const { admin, create, person, services } = await startImport(t)
  await create('ada', '=HYPERLINK("http://evil.test","Ada, King")')
  await create('bob', '-2+3')
  const answer = await admin.get(`${USERS}/export`)
  t.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
  t.match(answer.headers.get('content-disposition'), 'attachment; filename="users-acme.csv"')
  const read = readCsv(answer.text)
  const lines = read.kind === 'read' ? read.lines : []
  t.equal(lines.length, 3)
  t.match(lines[1]?.cells[3], /^'=HYPERLINK\("http:\/\/evil\.test","Ada, King"\)$/)
  t.match(lines[2]?.cells.slice(1, 7), [
    'bob',
    'bob@acme.test',
    "'-2+3",
    'invited',
    'local',
    'none',
  ])
  t.notMatch((await admin.get(`${USERS}/export?q=bob`)).text, 'ada@')
  const other = await person('other')
  t.equal((await other.get(`${USERS}/export`)).status, 404)
  const { items } = await services.auditTrail.list({ limit: 9 }, { tenantId: 'acme' })
  t.match(
    items.filter(({ action }) => action === 'users.exported'),
    [{ content: { q: 'bob' } }, { actor: /^console:/, content: {} }],
    'each leaves a trace, and what was refused none',
  )
})

void t.test(
  'whom the limit of invitations keeps out is told apart from who is skipped',
  async (t) => {
    const { services, admin } = await startImport(t)
    const csv = 'email\nbob@acme.test\n'
    const said: string[] = []
    for (let sent = 0; sent <= LIMITS.rateInvitationsOfAddress.burst; sent++) {
      const done = await admin.post(`${IMPORT}/confirm`, { csv })
      said.push((await admin.get(done.location)).text)
      const bob = await services.users.byLogin('acme', 'bob@acme.test')
      if (bob !== undefined) await services.users.remove('acme', bob.userId, ACTOR)
    }
    t.match(said[0], /1 user imported\. </)
    t.match(said.at(-1), /0 users imported\. 1 not imported, over the limit of invitations/)
  },
)

void t.test(
  'a dry run tells how many of all it shows, and when the last of them is invited',
  async (t) => {
    const { admin, clock, services } = await startImport(t)
    const lines = (count: number) =>
      ['email', ...Array.from({ length: count }, (_, at) => `u${at}@acme.test`)].join('\n')
    const most = LIMITS.rateInvitations.burst
    const first = await admin.post(IMPORT, { csv: lines(most) })
    t.match(first.text, `The first ${LIMITS.pageItemsDefault} of ${most} users.`)
    t.notMatch(first.text, 'go out')
    const over = await admin.post(IMPORT, { csv: lines(most + 1) })
    t.match(over.text, /go out 500 an hour, the last by/)

    const { burst, perSecond } = LIMITS.rateInvitations
    const invited = { kind: 'invitations', key: 'acme', rate: { burst: 2 * burst, perSecond } }
    await services.store.change((change) => takeRate(change, invited, burst + 1))
    const last = `<time datetime="${new Date(clock.nowMs() + 3 * EVERY_MS).toISOString()}"`
    t.match((await admin.post(IMPORT, { csv: lines(2) })).text, `the last by ${last}`)
    const done = await admin.post(`${IMPORT}/confirm`, { csv: lines(2) })
    const list = (await admin.get(done.location)).text
    t.match(list, '2 users imported. <')
    t.match(list, '2 invitations are still to be sent')
    t.match(list, `the last by ${last}`)
  },
)

void t.test('what is written as CSV is read again as it was', (t) => {
  const cells = [
    'plain',
    'a,b',
    'say "hi"',
    'two\r\nlines',
    '',
    '=1+1',
    '@x',
    "'quoted'",
    'ü;ö',
    'a;=1',
    'a;\n-2',
  ]
  const read = readCsv(csvLine(cells) + csvLine(cells))
  t.match(read, { kind: 'read' })
  const [first, second] = read.kind === 'read' ? read.lines : []
  t.same(first?.cells.map(withoutGuard), cells)
  t.same([first?.line, second?.line], [1, 4])
  t.match(readCsv('a,b\n"x"y,z'), { kind: 'wrong', line: 2 })
  t.match(readCsv('a,b\nx"y,z'), { kind: 'wrong', line: 2 })
  t.end()
})
