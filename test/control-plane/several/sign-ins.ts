/** Guesses are counted, and secrets used up, over all control planes. */
import t from 'tap'
import { ADA } from '../realm/realm-world.ts'
import { begin, recordedSignIns } from '../realm/steps.ts'
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
