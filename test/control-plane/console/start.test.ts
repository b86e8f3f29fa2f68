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
  t.match(text, /command-line tool.*Or paste the code yourself.*verifyClaims\(\)/s)
  t.match(text, /framework=koa/, 'and for other frameworks')
  t.match(text, new RegExp(`action="${START}/probe"`), 'though the tool has told of nothing')
  const ran = await ada.post(`${START}/probe`)
  t.equal(ran.location.split('?')[0], START)
  t.match((await ada.get(ran.location)).text, /Application responds.*\(failed\)/s, 'in the list')
})
