/** What a session has asked for by mail, once somebody else has ended that session. */
import t from 'tap'
import { untilFound } from '../../support/fleet.ts'
import { personAt } from './account-visit.ts'
import { ACTOR, signIn, startWorld } from './realm-world.ts'

t.test('a session that was taken away leaves no way in behind: its link is void', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const ada = await personAt(world, acme)
  const linkAskedBy = async ({ send }: typeof ada, email: string) => {
    await send('/email', { email })
    const mail = await untilFound(() => world.sentMails.find(({ to }) => to === email))
    return /https?:\/\/\S+/.exec(mail.text)?.[0] ?? ''
  }
  const gone = { response: { status: 410 }, html: /no longer works/ }

  const thief = await personAt(world, acme)
  const ofThief = await linkAskedBy(thief, 'thief@example.test')
  t.match((await ada.browser.visit(ofThief)).html, /thief@example\.test/)
  await ada.send('/sessions', { others: '1' })
  t.match(await ada.browser.visit(ofThief), gone)
  t.match(await ada.browser.submit(ofThief, {}), gone)

  const other = await linkAskedBy(await personAt(world, acme), 'other@example.test')
  await world.revocations.revoke('acme', { subject: acme.ada.userId }, ACTOR)
  t.match(await ada.browser.submit(other, {}), gone)
  t.match(await world.users.get('acme', acme.ada.userId), { email: 'ada@example.test' })

  const again = await personAt(world, acme)
  const own = await linkAskedBy(again, 'own@example.test')
  await world.revocations.end('acme', again.sid, ACTOR, 'signed_out')
  t.match(await again.browser.submit(own, {}), { response: { status: 403 } }, 'she signed out')
  await signIn(again.browser, acme)
  t.match(await again.browser.submit(own, {}), { response: { status: 200 } }, 'and is back')
  t.match(await world.users.get('acme', acme.ada.userId), { email: 'own@example.test' })
})
