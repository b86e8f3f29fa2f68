import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { letter } from '../../../control-plane/mail/letters.ts'
import { openMailbox } from '../../../control-plane/mail/mailbox.ts'
import { createMails, type Mail } from '../../../control-plane/mail/mails.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock, startServices, temporaryFolder } from '../../support/control-plane.ts'

const MAIL: Mail = {
  to: 'ada@example.test',
  subject: 'Hello',
  text: 'https://id.example/?ticket=s3cret\n',
}

type Scope = Parameters<typeof startServices>[0]

async function start(t: Scope, send: (mail: Mail) => Promise<void>) {
  const clock = movableClock()
  const { store, vault } = await startServices(t, { clock })
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  const mails = createMails({
    store,
    vault,
    clock,
    log,
    transport: { send, close: () => undefined },
  })
  const queue = (mail = MAIL) => store.change((change) => mails.queue(change, 'acme', mail))
  const left = async () => (await store.read.select().from(schema.mails)).length
  return { clock, store, vault, lines, mails, queue, left }
}

void t.test('a mail commits with its change, sealed, and goes out once', async (t) => {
  const sent: Mail[] = []
  const { store, mails, queue, left, lines } = await start(t, async (mail) => void sent.push(mail))
  await t.rejects(
    store.change(async (change) => {
      await mails.queue(change, 'acme', MAIL)
      throw new Error('undone')
    }),
  )
  await mails.deliver()
  t.strictSame(sent, [])
  await queue()
  const rows = JSON.stringify(await store.read.select().from(schema.mails))
  t.notMatch(rows, /s3cret|ada@example/)
  await Promise.all([mails.deliver(), mails.deliver(), mails.deliver()])
  t.match(sent, [MAIL])
  t.equal(sent.length, 1)
  t.equal(await left(), 0)
  t.notMatch(lines.join(''), /s3cret/)
})

void t.test(
  'a mail server that is away is asked again, ever later, and given up at last',
  async (t) => {
    let tries = 0
    const { clock, mails, queue, left, lines } = await start(t, () => {
      tries++
      return Promise.reject(new Error('connect ECONNREFUSED'))
    })
    await queue()
    for (const minutes of [0, 1, 5, 15, 60, 240, 720]) {
      clock.advance(minutes * 60_000 - 1)
      await mails.deliver()
      clock.advance(1)
      await mails.deliver()
    }
    t.equal(tries, 7)
    t.equal(await left(), 0)
    t.match(lines.join(''), /mail given up/)
    t.notMatch(lines.join(''), /s3cret/)
  },
)

void t.test('two control planes on one database send it once', async (t) => {
  const sent: Mail[] = []
  const { store, vault, clock, mails, queue } = await start(t, async (mail) => void sent.push(mail))
  const other = createMails({
    store,
    vault,
    clock,
    log: pino({ level: 'silent' }),
    transport: { send: async (mail) => void sent.push(mail), close: () => undefined },
  })
  for (let count = 0; count < 30; count++) await queue()
  await Promise.all([mails.deliver(), other.deliver()])
  t.equal(sent.length, 30)
})

void t.test(
  'the mailbox keeps the newest, for its owner only, and survives a cut line',
  async (t) => {
    const file = join(temporaryFolder(t), 'mailbox.jsonl')
    const mailbox = openMailbox(file)
    t.strictSame(await mailbox.list(), [])
    const count = 2 * LIMITS.mailboxMailsMax + 1
    for (let at = 0; at < count; at++) await mailbox.send({ ...MAIL, at })
    t.equal(readFileSync(file, 'utf8').split('\n').length - 1, LIMITS.mailboxMailsMax)
    t.equal(statSync(file).mode & 0o777, 0o600)
    const kept = await mailbox.list()
    t.equal(kept[0]?.at, count - 1)
    writeFileSync(file, `${JSON.stringify({ ...MAIL, at: 1 })}\n{"to":"ad`)
    t.match(await openMailbox(file).list(), [{ at: 1 }])
  },
)

void t.test('a name with a line break writes no second line, and no second head', async (t) => {
  const mail = letter('ada@example.test', {
    subject: 'Hello\r\nBcc: eve@evil.example',
    lines: ['Hello Ada\r\nhttps://evil.example', 'Bye'],
  })
  t.notMatch(mail.subject, /[\r\n]/)
  t.equal(mail.text.split('\n').length, 4)
})
