/** Whether the application answers where it is asked whether it is well. */
import { resultsOf } from '../../../../shared/integration/check-result.ts'
import { askApplication, howToStart, portOf } from './asked-locally.ts'
import type { LocalCheck } from './looked-at.ts'

const { fail, pass, skip, warn } = resultsOf('health_path')

export const healthPath: LocalCheck = async (at) => {
  const path = at.world.tenant.health
  const port = portOf(at)
  if (port === null)
    return skip(
      'The port of the application is unknown.',
      'Start the application and set its port: PORT=3000 service-analyzer verify',
    )
  const answer = await askApplication(at, path)
  if (answer === null)
    return skip(
      `Nothing answers on port ${port} of this machine.`,
      `Start the application (${howToStart(at)}) and run: service-analyzer verify`,
    )
  const { status, url } = answer
  const found = `${url} answers ${status}`
  if (status < 300) return pass(`${found}.`)
  if (status === 401 || status === 403)
    return pass(`${found} to requests without claims, but answers the probes of the service.`)
  if (status === 404)
    return warn(
      `${found}: the path does not exist.`,
      `Add a path ${path} that answers 200, or ask the operator to set the health path to an existing one.`,
    )
  if (status < 400)
    return warn(
      `${found}: it redirects.`,
      `Answer ${path} with 200 by itself, or ask the operator to set a health path that is not redirected.`,
    )
  return fail(`${found}.`, `Check the application's log, then try: curl -i ${url}`)
}
