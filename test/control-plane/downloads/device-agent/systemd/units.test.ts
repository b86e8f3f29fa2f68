/** What the units say; that they work as they say is in real-systemd.test.ts. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import {
  COLLECTOR,
  LISTENER,
  TIMER,
  unitTexts,
} from '../../../../../control-plane/downloads/device-agent/systemd/units.ts'
import { LIMITS } from '../../../../../shared/limits.ts'

const WISH = {
  nodeFile: '/opt/agent/node',
  programFile: '/opt/agent/agent.mjs',
  programFolder: '/opt/agent',
  credentials: { device: '/etc/agent/device.json' },
  environment: {},
}
const WINDOWS = '../../../../../control-plane/downloads/device-agent/windows/install.ps1'

t.test('the collector comes every five minutes, on both platforms', async (t) => {
  t.equal(LIMITS.deviceCollectSeconds, 5 * 60)
  t.match(unitTexts({ ...WISH, tpm: undefined })[TIMER], '\nOnUnitActiveSec=300s\n')
  const installer = readFileSync(fileURLToPath(new URL(WINDOWS, import.meta.url)), 'utf8')
  t.match(installer, '-RepetitionInterval (New-TimeSpan -Minutes 5)')
})

t.test('the listener has the TPM where its key is in it, and no device else', async (t) => {
  const without = unitTexts({ ...WISH, tpm: undefined })[LISTENER]
  t.match(without, '\nPrivateDevices=yes\n')
  t.notMatch(without, /DeviceAllow|SupplementaryGroups/)
  const tpm = { device: '/dev/tpmrm0', group: 117 }
  const units = unitTexts({ ...WISH, tpm })
  t.match(units[LISTENER], '\nSupplementaryGroups=117\nDeviceAllow=/dev/tpmrm0 rw\n')
  t.notMatch(units[LISTENER], 'PrivateDevices', 'which would hide it')
  t.match(units[LISTENER], '\nDynamicUser=yes\n')
  t.notMatch(units[COLLECTOR], 'tpmrm0')
})
