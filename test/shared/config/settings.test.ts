/** Secrets that lie in a file are of whoever runs the service, and of nobody else. */
import * as files from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { withSecretFiles } from '../../../shared/config/secret-files.ts'
import { SECRET_NAMES } from '../../../shared/config/secrets.ts'
import { readSettings } from '../../../shared/config/settings.ts'
import { temporaryFolder } from '../../support/control-plane.ts'

const ALL = { secrets: SECRET_NAMES, areMade: true }

t.test('a file of secrets that others can read stops the start and says what to do', async (t) => {
  const folder = temporaryFolder(t)
  const config = join(folder, 'config.yaml')
  files.writeFileSync(config, `data_dir: ${folder}/data\n`)
  const read = () => readSettings({ args: ['--config', config], environment: {}, files }, ALL)
  const made = read().secrets
  const path = join(folder, 'data/secrets.json')
  t.equal(files.statSync(path).mode & 0o777, 0o600)
  for (const mode of [0o644, 0o640, 0o604, 0o602, 0o620, 0o610]) {
    files.chmodSync(path, mode)
    t.throws(read, {
      name: 'ConfigError',
      message: `${path}: other users can read it (mode 0${mode.toString(8)}); run "chmod 600 ${path}", and replace its keys if other people use this machine`,
    })
  }
  for (const mode of [0o600, 0o400]) {
    files.chmodSync(path, mode)
    t.same(read().secrets, made)
  }
})

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const IS_SECRET = /\b(?:SERVICE_|PG)[A-Z_]*(?:KEY|PASSWORD|SECRET|TOKEN|URL|EAB)(?:_[A-Z]+)*\b/g

t.test('every secret that a program reads may come as a file', (t) => {
  const text = ['control-plane', 'gateway', 'shared/config']
    .flatMap((folder) => files.globSync(`${folder}/{config,secrets}.ts`, { cwd: ROOT }))
    .map((file) => files.readFileSync(join(ROOT, file), 'utf8'))
    .join('\n')
  const names = new Set(text.match(IS_SECRET)?.filter((name) => !name.endsWith('_FILE')))
  t.ok(names.size >= 9, [...names].join())
  for (const name of names)
    t.equal(withSecretFiles({ [`${name}_FILE`]: '/key' }, () => 'secret\n')[name], 'secret', name)
  t.end()
})

t.test('a secret may come as a file that the environment names', async (t) => {
  const folder = temporaryFolder(t)
  const config = join(folder, 'config.yaml')
  files.writeFileSync(config, `data_dir: ${folder}/data\n`)
  const read = (environment: Record<string, string>) =>
    readSettings({ args: ['--config', config], environment, files }, ALL)
  const path = join(folder, 'key')
  for (const name of [
    'SERVICE_OPERATOR_KEY',
    'SERVICE_FLEET_KEY',
    'SERVICE_MASTER_KEY',
    'SERVICE_MASTER_KEY_PREVIOUS',
    'SERVICE_MASTER_KEY_NEXT',
    'SERVICE_SMTP_URL',
    'SERVICE_AI_KEY',
    'SERVICE_ACME_EAB',
    'PGPASSWORD',
  ]) {
    const given = { [`${name}_FILE`]: path }
    for (const ending of ['', '\n', '\r\n']) {
      files.writeFileSync(path, `a-secret-of-enough-characters${ending}`)
      const { environment, secrets } = read(given)
      t.equal(environment[name], 'a-secret-of-enough-characters')
      if (name in secrets) t.match(secrets, { [name]: 'a-secret-of-enough-characters' })
    }
    t.equal(read({ ...given, [name]: '' }).environment[name], 'a-secret-of-enough-characters')
    t.throws(() => read({ ...given, [name]: 'another-one-of-enough-characters' }), {
      name: 'ConfigError',
      message: `${name}: it is set, and so is ${name}_FILE; keep one`,
    })
    files.writeFileSync(path, '\n')
    t.throws(() => read(given), { message: `${name}_FILE: ${path} is empty` })
    files.rmSync(path)
    t.throws(() => read(given), { message: `${name}_FILE: cannot read ${path} (ENOENT)` })
    t.equal(read({ [`${name}_FILE`]: '' }).environment[name], undefined, 'an empty name is none')
  }
  // named once and for all, and there only while a key is being replaced
  for (const name of ['SERVICE_OPERATOR_KEY_PREVIOUS', 'SERVICE_FLEET_KEY_PREVIOUS']) {
    t.equal(read({ [`${name}_FILE`]: path }).environment[name], '')
    files.writeFileSync(path, '\n')
    t.equal(read({ [`${name}_FILE`]: path }).environment[name], '')
    files.rmSync(path)
  }
  files.writeFileSync(path, 'short\n')
  const short = () => read({ SERVICE_MASTER_KEY_FILE: path })
  t.throws(short, /^SERVICE_MASTER_KEY: expected at least 16 printable/)
  t.notOk(files.readFileSync(join(folder, 'data/secrets.json'), 'utf8').includes('a-secret'))
})

t.test('a program makes no secret but its own, and a tool none at all', async (t) => {
  const folder = temporaryFolder(t)
  const config = join(folder, 'config.yaml')
  const path = join(folder, 'data/secrets.json')
  files.writeFileSync(config, `data_dir: ${folder}/data\n`)
  const world = { args: ['--config', config], environment: {}, files }
  const link = () =>
    readSettings(world, { secrets: ['SERVICE_OPERATOR_KEY'], areMade: false, flags: ['--force'] })
  t.throws(link, { name: 'ConfigError', message: /^\S+: SERVICE_OPERATOR_KEY expected in it, or / })
  t.same(readSettings(world, { secrets: [], areMade: false }).secrets, {})
  t.notOk(files.existsSync(path))
  const { secrets } = readSettings(world, { secrets: ['SERVICE_FLEET_KEY'], areMade: true })
  t.same(JSON.parse(files.readFileSync(path, 'utf8')), secrets)
  t.throws(link, { name: 'ConfigError' })
  const all = readSettings(world, ALL).secrets
  t.match(all, secrets, 'what was made first stands')
  t.same(link().secrets, { SERVICE_OPERATOR_KEY: all.SERVICE_OPERATOR_KEY })
})

t.test('a key before another one is read beside it, wherever it stands', async (t) => {
  const folder = temporaryFolder(t)
  const config = join(folder, 'config.yaml')
  const file = join(folder, 'previous')
  files.writeFileSync(config, `data_dir: ${folder}/data\n`)
  const read = (environment: Record<string, string> = {}) =>
    readSettings({ args: ['--config', config], environment, files }, ALL)
  const first = read()
  t.same(first.previous, {})
  const path = join(folder, 'data/secrets.json')
  t.same(first.keyFiles, [path])
  const old = 'an-old-key-of-enough-characters'
  files.writeFileSync(
    path,
    JSON.stringify({ ...first.secrets, SERVICE_OPERATOR_KEY_PREVIOUS: old }),
  )
  t.same(read().previous, { SERVICE_OPERATOR_KEY: old })
  files.writeFileSync(file, `${old}-of-the-fleet\n`)
  const named = { SERVICE_FLEET_KEY_PREVIOUS_FILE: file }
  t.same(read(named).previous, {
    SERVICE_OPERATOR_KEY: old,
    SERVICE_FLEET_KEY: `${old}-of-the-fleet`,
  })
  t.same(read(named).keyFiles, [path, file])
  files.writeFileSync(file, first.secrets.SERVICE_FLEET_KEY)
  t.same(read(named).previous, { SERVICE_OPERATOR_KEY: old }, 'the same key is none before it')
  files.writeFileSync(file, 'short')
  t.throws(() => read(named), /^SERVICE_FLEET_KEY_PREVIOUS: expected at least 16 printable/)
})
