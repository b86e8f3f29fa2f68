/** In which groups people are who have made their account themselves, and what bounds their mailbox. */
import t from 'tap'
import { mailboxOf } from '../../../control-plane/accounts/email-address.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { until } from '../../support/newcomer.ts'
import { ACTOR, type World } from './realm-world.ts'
import {
  askForAccount,
  auditedOf,
  GRACE,
  signUp,
  startSignUp,
  usersOf,
  waitingOf,
} from './sign-up-visits.ts'
import { setPolicy } from './steps.ts'

const membersIn = async (world: World) =>
  (await world.store.read.select().from(schema.groupMembers)).map(
    ({ group, source }) => `${group} ${source}`,
  )

async function pushed(world: World, name: string) {
  await world.store.change(({ queries, nowMs }) =>
    queries.insert(schema.scimGroups).values({
      ...{ tenantId: 'acme', groupId: 'grp_1', name, displayName: name, displayKey: name },
      ...{ externalId: null, isJoined: false, createdAt: nowMs, updatedAt: nowMs },
    }),
  )
}

t.test('whoever creates an account is in the groups that the policy names', async (t) => {
  const { world, acme } = await startSignUp(t, { sign_up: 'open' })
  for (const name of ['staff', 'readers']) await world.groups.create('acme', { name }, ACTOR)
  const groups = ['staff', 'readers']
  await setPolicy(world, 'password', { sign_up: 'open', sign_up_groups: groups })
  await world.accessRules.put(
    'acme',
    { rules: [{ path: '/', allow: [{ group: 'staff' }] }] },
    ACTOR,
  )
  const { done, claims } = await signUp(world, acme)
  t.match(await claims(done.url), { gb: 'AQ' }, 'the first token says so')
  t.same((await membersIn(world)).toSorted(), ['readers local', 'staff local'])
  t.match(await auditedOf(world, 'group.member_added'), [{ content: { source: 'local' } }, {}])
})

t.test('so is whoever is approved: as the policy says then', async (t) => {
  const { world, acme } = await startSignUp(t, { sign_up: 'approval' })
  for (const name of ['staff', 'later', 'gone']) await world.groups.create('acme', { name }, ACTOR)
  await setPolicy(world, 'password', { sign_up: 'approval', sign_up_groups: ['staff'] })
  await signUp(world, acme)
  t.same(await membersIn(world), [], 'who waits is in none')
  const now = ['later', 'gone']
  await setPolicy(world, 'password', { sign_up: 'approval', sign_up_groups: now })
  await world.groups.remove('acme', 'gone', ACTOR)
  const [waiting] = await waitingOf(world)
  await world.signUps.approve('acme', waiting?.signUpId ?? '', ACTOR)
  t.same(await membersIn(world), ['later local'], 'one that has gone keeps nobody out')
})

t.test('only groups that there are, and that no provider manages', async (t) => {
  const { world, acme } = await startSignUp(t, { sign_up: 'open' })
  const put = (sign_up_groups: string[]) =>
    setPolicy(world, 'password', { sign_up: 'open', sign_up_groups })
  const refused = { code: 'field_invalid', fields: { field: 'sign_up_groups' } }
  await t.rejects(put(['nobody']), { ...refused, detail: /no group called nobody/ })
  await world.groups.create('acme', { name: 'staff' }, ACTOR)
  await put(['staff'])
  await pushed(world, 'staff')
  await world.groups.create('acme', { name: 'readers' }, ACTOR)
  await t.rejects(put(['readers', 'staff']), { ...refused, detail: /managed by your provider/ })
  await signUp(world, acme)
  t.same(await membersIn(world), [], 'one that a provider has come to manage since is left out')
  t.equal((await usersOf(world)).length, 2)
})

t.test('one mailbox gets so many emails, whatever tags are behind its name', async (t) => {
  const { world, acme } = await startSignUp(t)
  const most = LIMITS.rateSignInMailsOfAddress.burst
  for (let at = 0; at < most; at++)
    await (await askForAccount(world, acme, `grace+${at}@company.example`)).mail()
  t.equal(world.sentMails.length, most)
  await askForAccount(world, acme, `Grace+one-more@company.example`)
  await until('it is held back', async () => world.signUpMail.counts().held_back === 1)
  t.equal(world.sentMails.length, most)
  const other = await askForAccount(world, acme, 'ann+0@company.example')
  t.equal((await other.mail()).to, 'ann+0@company.example', 'another mailbox')
})

t.test('tags are bounded together, and are different people all the same', async (t) => {
  const { world, acme } = await startSignUp(t)
  for (const email of ['grace+a@company.example', 'grace+b@company.example', GRACE])
    t.match((await signUp(world, acme, email)).done.url, acme.redirectUri, email)
  t.equal((await usersOf(world)).length, 4)
  t.equal(mailboxOf('grace+a+b@company.example'), 'grace@company.example')
  t.equal(mailboxOf('+a@company.example'), '+a@company.example', 'no name is left')
  t.equal(mailboxOf('grace@a+b.example'), 'grace@a+b.example')
})

t.test('a name that is another mailbox than its account is refused', async (t) => {
  const { world, acme } = await startSignUp(t)
  const { asked } = await askForAccount(world, acme, '\uff41da@example.test')
  t.match(asked, { response: { status: 422 }, html: /complete email address/ })
  t.match((await askForAccount(world, acme, 'zo\u00eb@example.test')).asked.response, {
    status: 200,
  })
})

t.test('the email about an approval leads to a hostname that the tenant still has', async (t) => {
  const { world, acme } = await startSignUp(t, { sign_up: 'approval' })
  await signUp(world, acme)
  await world.tenants.patch('acme', { hostnames: ['new.example'] }, ACTOR)
  const [waiting] = await waitingOf(world)
  t.match(waiting?.applicationUrl, 'acme.example')
  await world.signUps.approve('acme', waiting?.signUpId ?? '', ACTOR)
  await until(
    'it is sent',
    async () => world.sentMails.at(-1)?.subject.includes('is ready') === true,
  )
  t.match(world.sentMails.at(-1)?.text, 'http://new.example')
  t.notMatch(world.sentMails.at(-1)?.text, 'acme.example')
})
