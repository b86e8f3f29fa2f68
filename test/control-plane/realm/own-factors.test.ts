/** Second factors, set up and removed by the person themselves. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { fieldIn, personAt, signInWithCode, wrongFieldsIn } from './account-visit.ts'
import { ACTOR, PASSWORD, startWorld } from './realm-world.ts'
import { codeAt, enrolApp, setPolicy, STEP_MS } from './steps.ts'

t.test('an app is set up, signs in, and is removed again', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  const owner = { tenantId: 'acme', userId: acme.ada.userId }
  const ada = await personAt(world, acme)
  const page = await ada.open('/authenticator')
  const seed = (/<code>([A-Z2-7 ]+)<\/code>/.exec(page.html)?.[1] ?? '').replaceAll(' ', '')
  const sealed = fieldIn(page.html, 'sealed')
  t.notMatch(sealed, seed)
  const wrong = await ada.send('/authenticator', { sealed, code: '000000' })
  t.match(wrong, { response: { status: 422 }, html: /That code is not valid/ })
  t.match(wrong.html, page.html.match(/<code>[A-Z2-7 ]+<\/code>/)?.[0], 'the same key')
  t.match(await ada.send('/authenticator', { sealed: 'x', code: '000000' }), {
    response: { status: 422 },
    html: /open for too long/,
  })
  const code = codeAt(seed, clock.nowMs())
  const set = await ada.send('/authenticator', { sealed, code })
  t.equal(set.html.match(/<code>/g)?.length, 10, 'with the codes for the paper')
  const again = await ada.send('/authenticator', { sealed, code })
  t.match(again, { url: ada.url('?done=app') }, 'a second click adds nothing')
  t.equal((await world.factors.list(owner)).length, 11)
  t.match((await ada.open()).html, /10 left/)

  const other = await personAt(world, acme).catch(() => undefined)
  t.equal(other, undefined, 'the password alone does not sign in any more')
  clock.advance(STEP_MS)
  const second = await signInWithCode(world, acme, 'ada', codeAt(seed, clock.nowMs()))
  const renewed = await second.send('/recovery-codes', {})
  t.equal(renewed.html.match(/<code>/g)?.length, 10)

  const [factor] = (await world.factors.list(owner)).filter(({ kind }) => kind === 'totp')
  const factorId = factor?.factorId ?? ''
  await setPolicy(world, 'mfa', { mode: 'required' })
  t.match(await second.send('/factor', { factor: factorId }), {
    response: { status: 409 },
    html: /this is your last one/,
  })
  t.equal((await world.factors.list(owner)).length, 11)
  await setPolicy(world, 'mfa', { mode: 'optional' })
  t.match(await second.send('/factor', { factor: factorId }), { url: second.url('?done=factor') })
  t.same(await world.factors.list(owner), [])

  await world.mails.deliver()
  const factorMails = world.sentMails.filter(({ subject }) => subject.includes('second factors'))
  t.match(
    factorMails,
    [
      { to: 'ada@example.test', text: /an authenticator app was added/ },
      { to: 'ada@example.test', text: /new recovery codes were created/ },
      { to: 'ada@example.test', text: /an authenticator app was removed/ },
    ],
    'and the person hears of each',
  )
  t.equal(factorMails.length, 3, 'once')
})

t.test('with a factor, the password alone confirms nothing', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  const ada = await personAt(world, acme)
  const app = await enrolApp(world, acme) // by somebody else's browser
  const owner = { tenantId: 'acme', userId: acme.ada.userId }
  const [factor] = (await world.factors.list(owner)).filter(({ kind }) => kind === 'totp')
  const form = { factor: factor?.factorId ?? '' }
  for (const path of ['/email', '/password', '/authenticator'])
    t.match((await ada.open(path)).html, /name="proof_code"/, path)
  const asked = await ada.send('/factor', form)
  t.match(asked.html, /name="proof_code"/)
  t.equal(fieldIn(asked.html, 'factor'), form.factor, 'and what was asked for goes on with it')
  for (const [fields, sentence] of [
    [{ proof_password: PASSWORD, proof_code: '' }, /Confirm it&#39;s you/],
    [{ proof_password: PASSWORD, proof_code: '000000' }, /That code is not valid/],
    [{ proof_password: 'wrong', proof_code: app.code() }, /current password is not correct/],
  ] as const) {
    const answer = await ada.send('/factor', { ...form, ...fields })
    t.match(answer, { response: { status: 422 }, html: sentence })
    const wrong = fields.proof_password === 'wrong' ? 'proof_password' : 'proof_code'
    t.same(wrongFieldsIn(answer.html), [wrong], 'the cursor is where it goes on')
  }
  t.equal((await world.factors.list(owner)).length, 11)
  const proof = { proof_password: PASSWORD, proof_code: app.code() }
  t.match(await ada.send('/factor', { ...form, ...proof }), { url: ada.url('?done=factor') })
  t.same(await world.factors.list(owner), [])
})

t.test('so many factors, and not one more', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  const owner = { tenantId: 'acme', userId: acme.ada.userId }
  const app = await enrolApp(world, acme)
  const ada = await signInWithCode(world, acme, 'ada', app.code())
  clock.advance(1)
  await world.store.change(async (change) => {
    for (let id = 2; id < LIMITS.factorsPerUserMax; id++)
      await world.factors.addPasskey(
        change,
        owner,
        { id: `${id}`, publicKey: '', transports: [] },
        0,
      )
  })
  const count = async () =>
    (await world.factors.list(owner)).filter(({ kind }) => kind !== 'recovery').length
  const addFrom = ({ html }: { html: string }) => {
    const seed = (/<code>([A-Z2-7 ]+)<\/code>/.exec(html)?.[1] ?? '').replaceAll(' ', '')
    const code = codeAt(seed, clock.nowMs())
    return ada.send('/authenticator', { sealed: fieldIn(html, 'sealed'), code })
  }
  t.match(await addFrom(await ada.open('/authenticator')), { url: ada.url('?done=app') })
  t.equal(await count(), LIMITS.factorsPerUserMax)
  t.match((await ada.open('/authenticator')).html, /maximum number of second factors/)

  const [first] = (await world.factors.list(owner)).filter(({ kind }) => kind === 'passkey')
  await world.factors.remove(owner, first?.factorId ?? '', ACTOR)
  clock.advance(1)
  const late = await ada.open('/authenticator')
  const passkey = { id: 'late', publicKey: '', transports: [] }
  await world.store.change((change) => world.factors.addPasskey(change, owner, passkey, 0))
  t.match(await addFrom(late), {
    response: { status: 422 },
    html: /maximum number of second factors/,
  })
  t.equal(await count(), LIMITS.factorsPerUserMax, 'nor by a page from before')
})
