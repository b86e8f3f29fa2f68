/**
 * The bytes of a form say little of the work that it makes: 256 KiB hold 65,000 fields, and whoever
 * has not signed in could send one after the other. Fields are counted before they are parsed.
 */
import t from 'tap'
import { readSentForm } from '../../../control-plane/console/form-values.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'

const OPEN_TO_ALL = ['/console/welcome', '/console/invitation']
const MOST = LIMITS.consoleStrangersFormBytesMax

/** Without the separator, `length` bytes in one field. */
const field = (length: number) => ({ x: 'x'.repeat(length - 'x='.length) })
const fields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, '']))

void t.test('a stranger’s form is read to its limits, in bytes and in fields', async (t) => {
  const { ask } = await startConsole(t)
  const send = async (path: string, form: Record<string, string>) =>
    (await ask(path, '', { method: 'POST', form })).status
  for (const path of OPEN_TO_ALL) {
    t.not(await send(path, field(MOST)), 413, `${path}, as large as allowed`)
    t.equal(await send(path, field(MOST + 1)), 413, `${path}, a byte too large`)
    t.not(await send(path, fields(LIMITS.formFieldsMax)), 413, `${path}, as many as allowed`)
    t.equal(await send(path, fields(LIMITS.formFieldsMax + 1)), 413, `${path}, one too many`)
  }
  t.equal(MOST, 16 * 1024)
})

void t.test('so is the form of somebody who has signed in, of more bytes', async (t) => {
  const { person } = await startConsole(t)
  const ada = await person('acme')
  const send = async (form: Record<string, string>) =>
    (await ada.post('/console/tenants/acme/users/new', form)).status
  const proofs = 2
  t.not(await send(field(LIMITS.consoleFormBytesMax / 2)), 413)
  t.not(await send(fields(LIMITS.formFieldsMax - proofs)), 413)
  t.equal(await send(fields(LIMITS.formFieldsMax - proofs + 1)), 413)
})

void t.test('who is not signed in is told so, and too large a form is not kept', async (t) => {
  const clock = movableClock()
  const { person } = await startConsole(t, { clock })
  const ada = await person('acme')
  clock.advance(LIMITS.consoleIdleMs + 1)
  const answers = [field(MOST), fields(LIMITS.formFieldsMax)].map((form) =>
    ada.post('/console/tenants/acme/users/new', form),
  )
  for (const answer of await Promise.all(answers)) {
    t.equal(answer.status, 401)
    t.notMatch(answer.text, /is kept/)
  }
})

/** Its proofs, and some to spare. */
const OF_EVERY_FORM = 20

void t.test('no form of ours has nearly as many fields', async (t) => {
  const { routes } = await startConsole(t)
  const most = Math.max(...routes.map(({ declaration: { form = {} } }) => Object.keys(form).length))
  t.ok(most + OF_EVERY_FORM < LIMITS.formFieldsMax, `${most} at most`)
})

void t.test('what is one too many is never parsed', (t) => {
  const { URLSearchParams: whole } = globalThis
  let parsed = 0
  globalThis.URLSearchParams = class extends whole {
    constructor(text: string) {
      super(text)
      parsed++
    }
  } as typeof whole
  t.teardown(() => void (globalThis.URLSearchParams = whole))
  const text = '&'.repeat(LIMITS.formFieldsMax - 1)
  t.equal(readSentForm(text, {}).values.size, 0)
  t.equal(parsed, 1)
  t.throws(() => readSentForm(`${text}&`, {}), { code: 'body_too_large' })
  t.equal(parsed, 1)
  t.end()
})
