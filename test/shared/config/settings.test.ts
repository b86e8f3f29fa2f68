/** Secrets that lie in a file are of whoever runs the service, and of nobody else. */
import * as files from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readSettings } from '../../../shared/config/settings.ts'
import { temporaryFolder } from '../../support/control-plane.ts'

t.test('a file of secrets that others can read stops the start and says what to do', async (t) => {
  const folder = temporaryFolder(t)
  const config = join(folder, 'config.yaml')
  files.writeFileSync(config, `data_dir: ${folder}/data\n`)
  const read = () => readSettings({ args: ['--config', config], environment: {}, files })
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
