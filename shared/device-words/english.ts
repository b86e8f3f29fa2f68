/** What is said of machines with our agent, in English. */
import type { DeviceWords } from './words.ts'

const ASK_ADMINISTRATOR = 'Contact your administrator.'
const UPDATE_LIST = {
  linux:
    'Run “sudo apt update” (Debian, Ubuntu) or “sudo dnf makecache” (Fedora, Red Hat), then wait five minutes.',
  windows: 'Open Settings → Windows Update and choose “Check for updates”.',
}
const TURN_ON_LOCK = {
  linux:
    'GNOME: Settings → Privacy → Screen Lock. KDE: System Settings → Screen Locking. Turn on automatic locking.',
  windows:
    'Open “Change screen saver”, choose any screen saver, and check “On resume, display logon screen”.',
}
const TURN_ON_FIREWALL = {
  linux:
    'Run “sudo ufw enable” (Debian, Ubuntu) or “sudo systemctl enable --now firewalld” (Fedora, Red Hat).',
  windows:
    'Open Windows Security → Firewall & network protection and turn it on for every network.',
}

export const deviceWordsEnglish: DeviceWords = {
  titles: {
    disk_encrypted: 'Disk encryption',
    up_to_date: 'Updates',
    firewall: 'Firewall',
    screen_lock: 'Screen lock',
    secure_boot: 'Secure Boot',
    tpm: 'Security chip (TPM)',
    state: 'Device status',
    owner: 'Owner',
    approved: 'Approval',
    key_storage: 'Device key',
    os: 'Operating system',
    agent: 'Device agent',
    fresh: 'Last report',
  },
  facts: {
    disk_encrypted: {
      encrypted: { said: 'The disk is encrypted.' },
      not_encrypted: {
        said: 'The disk isn’t encrypted.',
        mend: {
          linux:
            'Linux can’t encrypt a disk it’s running from. Back up your files and reinstall with “Encrypt the disk” (LUKS) selected, or contact your administrator.',
          windows:
            'Open Settings → Privacy & security → Device encryption, or search for “Manage BitLocker”, and turn it on.',
        },
      },
      partly_encrypted: {
        said: 'Part of the data is on a disk that isn’t encrypted.',
        mend: {
          linux: 'Encrypt the disks named here, or move the files off them.',
          windows: 'Search for “Manage BitLocker” and turn it on for the drives named here.',
        },
      },
      encryption_suspended: {
        said: 'BitLocker is suspended: the key is stored unprotected on the disk.',
        mend: { windows: 'Search for “Manage BitLocker” and choose “Resume protection”.' },
      },
      encryption_in_progress: {
        said: 'The disk is still being encrypted or decrypted.',
        mend: 'Leave the device on and plugged in until encryption is complete.',
      },
      encryption_not_offered: {
        said: 'This edition of Windows doesn’t include BitLocker.',
        mend: ASK_ADMINISTRATOR,
      },
      root_overlay: {
        said: 'This looks like a container or a live system, so its disk can’t be checked.',
      },
      root_in_memory: { said: 'The system runs from memory, so its disk can’t be checked.' },
      root_network: { said: 'The system runs from a network drive, which can’t be checked.' },
      filesystem_not_known: { said: 'The agent can’t check this type of file system.' },
      volume_locked: { said: 'The system drive is locked, so it can’t be checked.' },
    },
    up_to_date: {
      up_to_date: { said: 'No security updates are pending.' },
      security_updates: {
        said: 'Security updates are waiting to be installed.',
        mend: {
          linux:
            'Install them with your software center, or run “sudo apt upgrade” or “sudo dnf upgrade”.',
          windows: 'Open Settings → Windows Update and install them.',
        },
      },
      restart_needed: {
        said: 'Updates take effect only after a restart.',
        mend: 'Save your work and restart the device.',
      },
      update_data_missing: { said: 'The device has never looked for updates.', mend: UPDATE_LIST },
      update_data_old: {
        said: 'The device hasn’t looked for updates in over a week.',
        mend: UPDATE_LIST,
      },
      security_source_missing: {
        said: 'No source of security updates is set up.',
        mend: ASK_ADMINISTRATOR,
      },
      package_manager_not_known: { said: 'The agent can’t check updates on this system.' },
    },
    firewall: {
      ufw: { said: 'ufw blocks incoming connections.' },
      firewalld: { said: 'firewalld blocks incoming connections.' },
      nftables: { said: 'nftables blocks incoming connections.' },
      iptables: { said: 'iptables blocks incoming connections.' },
      windows_firewall: { said: 'Windows Firewall is on for every network.' },
      no_firewall: { said: 'No firewall is on.', mend: TURN_ON_FIREWALL },
      allows_all: {
        said: 'The firewall is on, but allows all incoming connections.',
        mend: {
          linux:
            'Run “sudo ufw default deny incoming”, or choose a zone other than “trusted” in firewalld.',
          windows:
            'Open Windows Defender Firewall with Advanced Security → Properties and set inbound connections to “Block”.',
        },
      },
      ipv6_open: {
        said: 'The firewall covers IPv4 only. Over IPv6, the device is open.',
        mend: { linux: 'Apply the same rules to IPv6, for example with ufw or firewalld.' },
      },
      profile_off: {
        said: 'The firewall is off for some networks.',
        mend: TURN_ON_FIREWALL,
      },
    },
    screen_lock: {
      locks: { said: 'The screen locks by itself.' },
      no_session: { said: 'Nobody was signed in to the desktop, so this can’t be checked.' },
      lock_off: { said: 'The screen doesn’t lock by itself.', mend: TURN_ON_LOCK },
      lock_late: {
        said: 'The screen locks too late: it should take 30 minutes at most.',
        mend: TURN_ON_LOCK,
      },
      lock_without_password: {
        said: 'The screen saver starts, but doesn’t ask for a password.',
        mend: TURN_ON_LOCK,
      },
      desktop_not_known: { said: 'The agent can’t check the screen lock of this desktop.' },
    },
    secure_boot: {
      on: { said: 'Secure Boot is on.' },
      off: {
        said: 'Secure Boot is off.',
        mend: 'Turn it on in the device’s firmware settings (UEFI). Have your recovery key at hand.',
      },
      legacy_boot: {
        said: 'The device starts in legacy BIOS mode, where Secure Boot isn’t available.',
        mend: ASK_ADMINISTRATOR,
      },
      not_offered: { said: 'The firmware doesn’t offer Secure Boot.', mend: ASK_ADMINISTRATOR },
      shim_validation_off: {
        said: 'Secure Boot is on, but the boot loader was told not to verify anything.',
        mend: { linux: 'Run “sudo mokutil --enable-validation” and restart.' },
      },
    },
    tpm: {
      tpm_2: { said: 'The device has a TPM 2.0.' },
      tpm_1: { said: 'The device has a TPM 1.2. Version 2.0 is needed.', mend: ASK_ADMINISTRATOR },
      no_tpm: {
        said: 'No TPM was found.',
        mend: 'It may be turned off in the firmware settings (UEFI), where it’s also called PTT or fTPM.',
      },
      tpm_not_ready: {
        said: 'The device has a TPM, but it isn’t ready.',
        mend: { windows: 'Open Windows Security → Device security → Security processor details.' },
      },
      tpm_version_not_known: { said: 'The device has a TPM of an unknown version.' },
    },
  },
  anyFact: {
    timed_out: { said: 'The device took too long to answer.' },
    not_allowed: { said: 'The agent isn’t allowed to check this.', mend: ASK_ADMINISTRATOR },
    not_readable: { said: 'The answer couldn’t be read.' },
    tool_missing: { said: 'A program needed for this check isn’t installed.' },
    platform_not_supported: { said: 'The agent doesn’t support this operating system.' },
    not_reported: {
      said: 'The device hasn’t reported yet.',
      mend: 'Wait five minutes and try again.',
    },
  },
  demands: {
    state: {
      revoked: { said: 'An administrator revoked this device.', mend: ASK_ADMINISTRATOR },
      suspect_clone: {
        said: 'A copy of this device was seen: its key was used twice, or an old snapshot was restored.',
        mend: ASK_ADMINISTRATOR,
      },
    },
    owner: {
      owner_unknown: { said: 'This device isn’t assigned to anyone.', mend: ASK_ADMINISTRATOR },
      owned_by_another: {
        said: 'This device is assigned to someone else.',
        mend: 'Use your own device, or contact your administrator.',
      },
    },
    approved: {
      approval_pending: {
        said: 'An administrator hasn’t approved this device yet.',
        mend: ASK_ADMINISTRATOR,
      },
    },
    key_storage: {
      key_in_file: {
        said: 'The device’s key is in a file, not in its TPM.',
        mend: {
          linux: 'Install tpm2-tools, then enroll the device again with a new ticket.',
          windows: ASK_ADMINISTRATOR,
        },
      },
    },
    os: {
      not_reported: {
        said: 'The device hasn’t reported its version yet.',
        mend: 'Wait five minutes and try again.',
      },
      os_version_unknown: { said: 'The version couldn’t be determined.', mend: ASK_ADMINISTRATOR },
      os_too_old: {
        said: 'The version is older than required.',
        mend: {
          linux: 'Upgrade to a newer release of your distribution.',
          windows: 'Open Settings → Windows Update and install all updates.',
        },
      },
    },
    agent: {
      agent_too_old: {
        said: 'The agent is older than required.',
        mend: 'It updates by itself within a day while the device is online.',
      },
    },
    fresh: {
      not_reported: {
        said: 'The device hasn’t reported yet.',
        mend: 'Wait five minutes and try again.',
      },
      facts_too_old: {
        said: 'The last report is too old.',
        mend: 'Leave the device online for five minutes and try again.',
      },
    },
  },
  notKnown: (reason) => `Reported as “${reason}”.`,
  collected: [
    'Whether the disk is encrypted, and if not, which drives',
    'Whether security updates or a restart are pending, and for which packages',
    'Whether a firewall is on and the screen locks by itself',
    'Whether Secure Boot is on and there is a TPM',
    'Operating system, version, host name, and a fingerprint of the machine ID',
  ],
  notCollected:
    'The agent doesn’t read your files, your browsing history, or where you are, and it can’t run commands for anyone.',
}
