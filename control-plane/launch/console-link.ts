/** `npm run console-link`: a link for a new operator, from the control plane that runs. */
import { ConfigError } from '../../shared/config/config.ts'
import { loadToolSettings } from '../config.ts'
import { createApiClient } from './api-client.ts'
import { operatorLink } from './operator-link.ts'

const FORCE = '--force'

try {
  const { config, secrets, flags } = loadToolSettings(
    process.argv.slice(2),
    ['SERVICE_OPERATOR_KEY'],
    [FORCE],
  )
  const operator = createApiClient(config.base_url, secrets.SERVICE_OPERATOR_KEY)
  const link = await operatorLink(operator, flags.has(FORCE))
  process.stdout.write(
    link === undefined
      ? `An operator already exists: ${config.base_url}/console\nTo add another one: npm run console-link -- ${FORCE}\n`
      : `${link}\nWhoever opens this link first becomes an operator. It works once and expires in 15 minutes.\n`,
  )
} catch (error) {
  const isUnreachable = error instanceof TypeError // what fetch throws where nobody listens
  const line = isUnreachable
    ? 'The control plane is not responding. Start it with npm start, then try again.'
    : (error as Error).message
  process.stderr.write(`${line}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
}
