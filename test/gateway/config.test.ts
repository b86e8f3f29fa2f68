/** What a gateway hands on to its workers. */
import * as files from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { workerEnvironment } from '../../gateway/config.ts'
import { withSecretFiles } from '../../shared/config/secret-files.ts'
import { temporaryFolder } from '../support/control-plane.ts'

t.test(
  'a worker that is started later has the key of the others, whatever its file says',
  async (t) => {
    const file = join(temporaryFolder(t), 'key')
    const readFile = (path: string) => files.readFileSync(path, 'utf8')
    files.writeFileSync(file, 'the-key-of-this-start\n')
    const given = { SERVICE_FLEET_KEY_FILE: file, SERVICE_FLEET_KEY: '' }
    const fleetKey = withSecretFiles(given, readFile)['SERVICE_FLEET_KEY']!
    files.writeFileSync(file, 'the-key-of-the-next-start\n')
    const later = { ...given, ...workerEnvironment(fleetKey, 2) }
    t.match(withSecretFiles(later, readFile), {
      SERVICE_FLEET_KEY: 'the-key-of-this-start',
      SERVICE_GATEWAY_WORKER: '2',
    })
  },
)
