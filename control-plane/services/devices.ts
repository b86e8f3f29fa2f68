/** Machines with our agent. */
import { createChallengeKeys } from '../devices/challenge-keys.ts'
import { createDevices } from '../devices/devices.ts'
import { createDeviceProofs } from '../devices/proofs.ts'
import { createDeviceTickets } from '../devices/tickets.ts'
import { createDeviceTypedCodes } from '../devices/typed-codes.ts'
import { createAgentDownloads } from '../downloads/device-agent/program-download.ts'
import { openRuntimes, runtimesFolder } from '../downloads/device-agent/runtimes.ts'
import { createViolationSweep, endIfViolating } from '../devices/violations.ts'
import type { Jobs } from './jobs.ts'
import type { TenantServices } from './tenants.ts'
import type { ServicesWorld } from './world.ts'

export function createDeviceServices(
  world: Pick<ServicesWorld, 'clock' | 'baseUrl' | 'dataDir'> &
    Pick<TenantServices, 'store' | 'vault' | 'leases'>,
  jobs: Jobs,
) {
  const deviceTickets = jobs.tidied('deviceTickets', createDeviceTickets(world))
  const challengeKeys = createChallengeKeys(world)
  const deviceProofs = jobs.tidied('deviceProofs', createDeviceProofs({ ...world, challengeKeys }))
  const deviceTypedCodes = jobs.tidied('deviceTypedCodes', createDeviceTypedCodes(world))
  const ofDevices = { ...world, deviceTickets, challengeKeys, onChanged: endIfViolating }
  const enrolledDevices = jobs.tidied('enrolledDevices', createDevices(ofDevices))
  const violations = createViolationSweep(world)
  const failure = 'devices that fall out of the policy wait for the next round'
  jobs.follows(world.leases.alone('violations', violations.run), failure)
  const { baseUrl, dataDir } = world
  const deviceRuntimes = openRuntimes(dataDir === undefined ? undefined : runtimesFolder(dataDir))
  const agentDownloads = createAgentDownloads({ baseUrl, runtimes: deviceRuntimes })
  const programs = { deviceRuntimes, agentDownloads }
  const proofs = { deviceProofs, deviceTypedCodes }
  return { ...proofs, deviceTickets, challengeKeys, enrolledDevices, ...programs }
}
