/** Start: the setup checklist says what is next, with code to paste and the checks beside it. */
import t from 'tap'
import { ACTOR } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'

const START = '/console/tenants/acme'

t.test('who uses no tool pastes the code, and runs the checks from the list', async (t) => {
  const { services, person } = await startConsole(t)
  const ada = await person('acme')
  const draft = (await ada.get(START)).text
  t.match(draft, /Setup checklist.*action="[^"]*\/publish"/s)
  t.notMatch(draft, 'Or paste the code yourself', 'not before it is its turn')
  await services.tenants.publish('acme', ACTOR)
  const { text } = await ada.get(START)
  t.match(text, /command-line tool.*Or paste the code yourself.*verifyClaims\(/s)
  t.match(
    text,
    /cli\/install \| sh\nservice-analyzer setup<.*analyzer key/s,
    'one command, then the key',
  )
  t.match(text, /framework=koa/, 'and for other frameworks')
  t.match(text, new RegExp(`action="${START}/probe"`), 'though the tool has told of nothing')
  const ran = await ada.post(`${START}/probe`)
  t.equal(ran.location.split('?')[0], START)
  t.match((await ada.get(ran.location)).text, /Application responds.*\(failed\)/s, 'in the list')
})

t.test('a test sign-in is run from the list, and shows where it failed', async (t) => {
  const { services, person } = await startConsole(t)
  const ada = await person('acme')
  const trial = `${START}/sign-in-trial`
  t.notMatch((await ada.get(START)).text, trial, 'a draft is served nowhere')
  t.match(await ada.post(trial), { status: 409 })
  await services.tenants.publish('acme', ACTOR)
  t.match((await ada.get(START)).text, `action="${trial}"`)
  const ran = await ada.post(trial)
  t.equal(ran.location.split('?')[0], START)
  const { text } = await ada.get(ran.location)
  t.match(text, 'The test sign-in failed. The checklist says where.')
  const step = text.slice(text.indexOf('Sign-in works end to end'))
  t.match(step, /^[^]*?\(failed\)[^]*?Visitors are sent to sign in: \S[^]*?Checked/)
  t.match(step, /<details open[^]*?Test sign-in steps[^]*?Sign-out ends the session[^]*?Not run/)
  t.match(step, `action="${trial}"`, 'and is run again from there')
  await services.tenants.patch('acme', { sealed: ['/internal'] }, ACTOR)
  const later = (await ada.get(START)).text
  t.notMatch(later, 'Test sign-in steps', 'what has changed since was not tried')
})
