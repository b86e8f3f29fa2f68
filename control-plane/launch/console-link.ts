/** `npm run console-link`: a link for a new operator, from the control plane that runs. */
import { ConfigError } from '../../shared/config/config.ts'
import { loadSettings } from '../config.ts'
import { createApiClient } from './api-client.ts'
import { operatorLink } from './operator-link.ts'

const FORCE = '--force'

try {
  const { config, secrets, flags } = loadSettings(process.argv.slice(2), [FORCE])
  const operator = createApiClient(config.base_url, secrets.SERVICE_OPERATOR_KEY)
  const link = await operatorLink(operator, flags.has(FORCE))
  process.stdout.write(
    link === undefined
      ? `There is an operator already: ${config.base_url}/console\nFor another one: npm run console-link -- ${FORCE}\n`
      : `${link}\nIt makes whoever opens it first an operator, within 15 minutes.\n`,
  )
} catch (error) {
  const isUnreachable = error instanceof TypeError // what fetch throws where nobody listens
  const line = isUnreachable
    ? 'The control plane does not answer: start it, then try again.'
    : (error as Error).message
  process.stderr.write(`${line}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
}
