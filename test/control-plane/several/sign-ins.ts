/** Guesses are counted, and secrets used up, over all control planes. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { untilFound } from '../../support/fleet.ts'
import { codeIn, otherThan, ticketIn } from '../realm/mail-visits.ts'
import { ADA } from '../realm/realm-world.ts'
import { begin, recordedSignIns, setPolicy } from '../realm/steps.ts'
import { startTwoRealms } from './nodes.ts'

t.test('a brute force over two control planes gets the guesses of one', async (t) => {
  const { here } = await startTwoRealms(t)
  const acme = await here.tenant('acme')
  const browsers = await Promise.all(Array.from({ length: 40 }, () => begin(here, acme)))
  const guesses = browsers.map((browser, number) =>
    browser.sendOnce({ ...ADA, password: `guess number ${number}` }),
  )
  await Promise.all(guesses)
  const rows = await recordedSignIns(here)
  const failures = rows.filter(({ isFailure }) => isFailure)
  t.equal(failures.length, (await here.policies.of('acme')).lockout.user_failures)
})

t.test('a mail is redeemed at two control planes at once: one of them lets in, once', async (t) => {
  const { here, there } = await startTwoRealms(t)
  const acme = await here.tenant('acme')
  await setPolicy(here, 'password', { email_sign_in: true })
  const mails = () => [...here.sentMails, ...there.sentMails]
  const ask = async (username: string) => {
    const visit = await begin(here, acme)
    const before = new Set(mails())
    const { url } = await visit.send({ username, by_email: '1' })
    const { text } = await untilFound(() =>
      mails().find((mail) => !before.has(mail) && codeIn(mail.text) !== ''),
    )
    const post = (fields: Record<string, string>) =>
      visit.browser.once(url, { method: 'POST', body: new URLSearchParams(fields) })
    return { post, code: codeIn(text), ticket: ticketIn(text) }
  }
  const right = await ask('ada')
  await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      right.post(number % 3 === 0 ? { code: right.code } : { ticket: right.ticket }),
    ),
  )
  const used = () => here.signInMail.counts().used + there.signInMail.counts().used
  t.equal(used(), 1)
  const signedIn = (await recordedSignIns(here)).filter(({ outcome }) => outcome === 'signed_in')
  t.equal(signedIn.length, 1)

  const guessed = await ask('ada@example.test')
  const guess = otherThan(guessed.code)
  await Promise.all(Array.from({ length: 20 }, () => guessed.post({ code: guess })))
  const failures = (await recordedSignIns(here)).filter(({ isFailure }) => isFailure)
  t.equal(failures.length, LIMITS.signInMailGuessesMax, 'guesses of one')
  await guessed.post({ code: guessed.code })
  t.equal(used(), 1, 'and then not even the right one')
})
