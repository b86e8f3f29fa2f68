/** What a unit is given, and which of two folders has the newest key. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  adoptIdentity,
  newestOf,
  runningFolder,
} from '../../../../../control-plane/downloads/connector/systemd/running-state.ts'
import { proxiesOf } from '../../../../../control-plane/downloads/resident/given-proxy.ts'
import { createStateFolder } from '../../../../../control-plane/downloads/connector/state/state-folder.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import { joinedHere } from '../../../../support/joined-connector.ts'

const own = (path: string) => createStateFolder(path, { userId: process.getuid?.() })
const PROXIED = { isSecure: true, host: 'gw.example', port: 443 }

t.test('the first start takes what it is given, and later ones keep what they have', async (t) => {
  const { folder } = await joinedHere(t)
  const environment = { CREDENTIALS_DIRECTORY: folder }
  const state = own(join(temporaryFolder(t), 'state'))
  await adoptIdentity(state, {})
  t.equal(await state.read(), null, 'outside of systemd nothing is taken')
  await adoptIdentity(state, environment)
  const first = await state.require()
  t.match(first, { connector_id: 'con_1', key: { key_id: 'k1' } })

  await state.write({ ...first, key: { ...first.key, key_id: 'k2' } })
  await adoptIdentity(state, environment)
  t.match(await state.read(), { key: { key_id: 'k2' } }, 'it was replaced since')

  await state.write({ ...first, connector_id: 'con_0' })
  await state.writeList('of another one')
  await adoptIdentity(state, environment)
  t.match(await state.read(), { connector_id: 'con_1' }, 'it has joined anew')
  t.equal(await state.readList(), null)

  const empty = { CREDENTIALS_DIRECTORY: temporaryFolder(t) }
  await adoptIdentity(state, empty)
  t.match(await state.read(), { connector_id: 'con_1' })
})

t.test('the password of a proxy comes as a credential', async (t) => {
  const straight = () => undefined
  t.equal(await proxiesOf({}, straight), straight)
  const folder = temporaryFolder(t)
  const environment = { CREDENTIALS_DIRECTORY: folder, NO_PROXY: 'near.example' }
  t.equal(await proxiesOf(environment, straight), straight)
  writeFileSync(join(folder, 'https-proxy'), 'http://ada:secret@proxy.example:3128\n')
  const proxies = await proxiesOf(environment, straight)
  t.match(proxies(PROXIED), { host: 'proxy.example:3128', password: 'secret' })
  t.equal(proxies({ ...PROXIED, host: 'near.example' }), undefined)
})

t.test('root looks into the folder of the service for a newer key', async (t) => {
  const joined = await own((await joinedHere(t)).folder).require()
  const root = temporaryFolder(t)
  t.equal(await newestOf(joined, 0, root), joined)
  mkdirSync(join(root, 'var/lib/private'), { recursive: true })
  const running = createStateFolder(runningFolder(root), { userId: undefined })
  const newer = { ...joined, key: { ...joined.key, key_id: 'k2' } }
  await running.write(newer)
  t.match(await newestOf(joined, 0, root), { key: { key_id: 'k2' } })
  t.equal(await newestOf(joined, 1000, root), joined, 'others may not')
  await running.write({ ...newer, connector_id: 'con_2' })
  t.equal(await newestOf(joined, 0, root), joined, 'nor is another connector its own')
})
