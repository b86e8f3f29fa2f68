/** What is said of machines with our agent, in German. */
import type { DeviceWords } from './words.ts'

const ASK_ADMINISTRATOR = 'Wenden Sie sich an Ihre Administration.'
const UPDATE_LIST = {
  linux:
    'Führen Sie „sudo apt update“ (Debian, Ubuntu) oder „sudo dnf makecache“ (Fedora, Red Hat) aus und warten Sie fünf Minuten.',
  windows: 'Öffnen Sie Einstellungen → Windows Update und wählen Sie „Nach Updates suchen“.',
}
const TURN_ON_LOCK = {
  linux:
    'GNOME: Einstellungen → Privatsphäre → Bildschirmsperre. KDE: Systemeinstellungen → Bildschirmsperre. Schalten Sie die automatische Sperre ein.',
  windows:
    'Öffnen Sie „Bildschirmschoner ändern“, wählen Sie einen Bildschirmschoner und setzen Sie das Häkchen bei „Anmeldeseite bei Reaktivierung“.',
}
const TURN_ON_FIREWALL = {
  linux:
    'Führen Sie „sudo ufw enable“ (Debian, Ubuntu) oder „sudo systemctl enable --now firewalld“ (Fedora, Red Hat) aus.',
  windows:
    'Öffnen Sie Windows-Sicherheit → Firewall- & Netzwerkschutz und schalten Sie die Firewall für jedes Netzwerk ein.',
}

export const deviceWordsGerman: DeviceWords = {
  titles: {
    disk_encrypted: 'Festplattenverschlüsselung',
    up_to_date: 'Updates',
    firewall: 'Firewall',
    screen_lock: 'Bildschirmsperre',
    secure_boot: 'Secure Boot',
    tpm: 'Sicherheitschip (TPM)',
    state: 'Gerätestatus',
    owner: 'Zugeordnet',
    approved: 'Freigabe',
    key_storage: 'Geräteschlüssel',
    os: 'Betriebssystem',
    agent: 'Geräteagent',
    fresh: 'Letzte Meldung',
  },
  facts: {
    disk_encrypted: {
      encrypted: { said: 'Die Festplatte ist verschlüsselt.' },
      not_encrypted: {
        said: 'Die Festplatte ist nicht verschlüsselt.',
        mend: {
          linux:
            'Unter Linux geht das nicht im laufenden Betrieb. Sichern Sie Ihre Dateien und installieren Sie das System neu mit verschlüsselter Festplatte (LUKS), oder wenden Sie sich an Ihre Administration.',
          windows:
            'Öffnen Sie Einstellungen → Datenschutz und Sicherheit → Geräteverschlüsselung, oder suchen Sie nach „BitLocker verwalten“, und schalten Sie die Verschlüsselung ein.',
        },
      },
      partly_encrypted: {
        said: 'Ein Teil der Daten liegt auf einem unverschlüsselten Datenträger.',
        mend: {
          linux:
            'Verschlüsseln Sie die hier genannten Datenträger, oder verschieben Sie die Dateien.',
          windows:
            'Suchen Sie nach „BitLocker verwalten“ und schalten Sie die Verschlüsselung für die hier genannten Laufwerke ein.',
        },
      },
      encryption_suspended: {
        said: 'BitLocker ist angehalten: Der Schlüssel liegt ungeschützt auf der Festplatte.',
        mend: {
          windows: 'Suchen Sie nach „BitLocker verwalten“ und wählen Sie „Schutz fortsetzen“.',
        },
      },
      encryption_in_progress: {
        said: 'Die Festplatte wird gerade ver- oder entschlüsselt.',
        mend: 'Lassen Sie das Gerät am Stromnetz eingeschaltet, bis die Verschlüsselung fertig ist.',
      },
      encryption_not_offered: {
        said: 'Diese Windows-Edition enthält kein BitLocker.',
        mend: ASK_ADMINISTRATOR,
      },
      root_overlay: {
        said: 'Das sieht nach einem Container oder Live-System aus, dessen Festplatte sich nicht prüfen lässt.',
      },
      root_in_memory: {
        said: 'Das System läuft aus dem Arbeitsspeicher, die Festplatte lässt sich nicht prüfen.',
      },
      root_network: {
        said: 'Das System läuft von einem Netzlaufwerk, das sich nicht prüfen lässt.',
      },
      filesystem_not_known: { said: 'Dieses Dateisystem kann der Agent nicht prüfen.' },
      volume_locked: { said: 'Das Systemlaufwerk ist gesperrt und lässt sich nicht prüfen.' },
    },
    up_to_date: {
      up_to_date: { said: 'Es stehen keine Sicherheitsupdates aus.' },
      security_updates: {
        said: 'Es stehen Sicherheitsupdates aus.',
        mend: {
          linux:
            'Installieren Sie sie in der Softwareverwaltung, oder mit „sudo apt upgrade“ oder „sudo dnf upgrade“.',
          windows: 'Öffnen Sie Einstellungen → Windows Update und installieren Sie sie.',
        },
      },
      restart_needed: {
        said: 'Updates werden erst mit einem Neustart wirksam.',
        mend: 'Sichern Sie Ihre Arbeit und starten Sie das Gerät neu.',
      },
      update_data_missing: {
        said: 'Das Gerät hat noch nie nach Updates gesucht.',
        mend: UPDATE_LIST,
      },
      update_data_old: {
        said: 'Das Gerät hat seit über einer Woche nicht nach Updates gesucht.',
        mend: UPDATE_LIST,
      },
      security_source_missing: {
        said: 'Es ist keine Quelle für Sicherheitsupdates eingerichtet.',
        mend: ASK_ADMINISTRATOR,
      },
      package_manager_not_known: {
        said: 'Auf diesem System kann der Agent Updates nicht prüfen.',
      },
    },
    firewall: {
      ufw: { said: 'ufw blockiert eingehende Verbindungen.' },
      firewalld: { said: 'firewalld blockiert eingehende Verbindungen.' },
      nftables: { said: 'nftables blockiert eingehende Verbindungen.' },
      iptables: { said: 'iptables blockiert eingehende Verbindungen.' },
      windows_firewall: { said: 'Die Windows-Firewall ist für jedes Netzwerk eingeschaltet.' },
      no_firewall: { said: 'Es ist keine Firewall eingeschaltet.', mend: TURN_ON_FIREWALL },
      allows_all: {
        said: 'Die Firewall ist eingeschaltet, lässt aber alle eingehenden Verbindungen zu.',
        mend: {
          linux:
            'Führen Sie „sudo ufw default deny incoming“ aus, oder wählen Sie in firewalld eine andere Zone als „trusted“.',
          windows:
            'Öffnen Sie Windows Defender Firewall mit erweiterter Sicherheit → Eigenschaften und stellen Sie eingehende Verbindungen auf „Blockieren“.',
        },
      },
      ipv6_open: {
        said: 'Die Firewall gilt nur für IPv4. Über IPv6 ist das Gerät offen.',
        mend: {
          linux: 'Wenden Sie dieselben Regeln auf IPv6 an, zum Beispiel mit ufw oder firewalld.',
        },
      },
      profile_off: {
        said: 'Die Firewall ist für manche Netzwerke ausgeschaltet.',
        mend: TURN_ON_FIREWALL,
      },
    },
    screen_lock: {
      locks: { said: 'Der Bildschirm sperrt sich von selbst.' },
      no_session: {
        said: 'Am Desktop war niemand angemeldet, darum ließ sich das nicht prüfen.',
      },
      lock_off: { said: 'Der Bildschirm sperrt sich nicht von selbst.', mend: TURN_ON_LOCK },
      lock_late: {
        said: 'Der Bildschirm sperrt sich zu spät: Es sollten höchstens 30 Minuten sein.',
        mend: TURN_ON_LOCK,
      },
      lock_without_password: {
        said: 'Der Bildschirmschoner startet, verlangt aber kein Passwort.',
        mend: TURN_ON_LOCK,
      },
      desktop_not_known: {
        said: 'Die Bildschirmsperre dieses Desktops kann der Agent nicht prüfen.',
      },
    },
    secure_boot: {
      on: { said: 'Secure Boot ist eingeschaltet.' },
      off: {
        said: 'Secure Boot ist ausgeschaltet.',
        mend: 'Schalten Sie es in den Firmware-Einstellungen (UEFI) ein. Halten Sie Ihren Wiederherstellungsschlüssel bereit.',
      },
      legacy_boot: {
        said: 'Das Gerät startet im alten BIOS-Modus, in dem es Secure Boot nicht gibt.',
        mend: ASK_ADMINISTRATOR,
      },
      not_offered: { said: 'Die Firmware bietet kein Secure Boot.', mend: ASK_ADMINISTRATOR },
      shim_validation_off: {
        said: 'Secure Boot ist eingeschaltet, aber der Bootloader prüft nichts.',
        mend: {
          linux: 'Führen Sie „sudo mokutil --enable-validation“ aus und starten Sie neu.',
        },
      },
    },
    tpm: {
      tpm_2: { said: 'Das Gerät hat ein TPM 2.0.' },
      tpm_1: {
        said: 'Das Gerät hat ein TPM 1.2. Nötig ist Version 2.0.',
        mend: ASK_ADMINISTRATOR,
      },
      no_tpm: {
        said: 'Es wurde kein TPM gefunden.',
        mend: 'Vielleicht ist es in den Firmware-Einstellungen (UEFI) ausgeschaltet, wo es auch PTT oder fTPM heißt.',
      },
      tpm_not_ready: {
        said: 'Das Gerät hat ein TPM, das nicht bereit ist.',
        mend: {
          windows:
            'Öffnen Sie Windows-Sicherheit → Gerätesicherheit → Details zum Sicherheitschip.',
        },
      },
      tpm_version_not_known: { said: 'Das Gerät hat ein TPM unbekannter Version.' },
    },
  },
  anyFact: {
    timed_out: { said: 'Das Gerät hat nicht rechtzeitig geantwortet.' },
    not_allowed: { said: 'Der Agent darf das nicht prüfen.', mend: ASK_ADMINISTRATOR },
    not_readable: { said: 'Die Antwort war nicht lesbar.' },
    tool_missing: { said: 'Ein Programm, das für die Prüfung nötig ist, fehlt.' },
    platform_not_supported: { said: 'Der Agent unterstützt dieses Betriebssystem nicht.' },
    not_reported: {
      said: 'Das Gerät hat noch nichts gemeldet.',
      mend: 'Warten Sie fünf Minuten und versuchen Sie es erneut.',
    },
  },
  demands: {
    state: {
      revoked: {
        said: 'Dieses Gerät wurde von der Administration gesperrt.',
        mend: ASK_ADMINISTRATOR,
      },
      suspect_clone: {
        said: 'Von diesem Gerät gibt es eine Kopie: Sein Schlüssel wurde doppelt verwendet, oder ein alter Stand wurde wiederhergestellt.',
        mend: ASK_ADMINISTRATOR,
      },
    },
    owner: {
      owner_unknown: { said: 'Dieses Gerät ist niemandem zugeordnet.', mend: ASK_ADMINISTRATOR },
      owned_by_another: {
        said: 'Dieses Gerät ist einer anderen Person zugeordnet.',
        mend: 'Verwenden Sie Ihr eigenes Gerät, oder wenden Sie sich an Ihre Administration.',
      },
    },
    approved: {
      approval_pending: {
        said: 'Dieses Gerät ist noch nicht freigegeben.',
        mend: ASK_ADMINISTRATOR,
      },
    },
    key_storage: {
      key_in_file: {
        said: 'Der Schlüssel des Geräts liegt in einer Datei statt im TPM.',
        mend: {
          linux:
            'Installieren Sie tpm2-tools und registrieren Sie das Gerät mit einem neuen Ticket.',
          windows: ASK_ADMINISTRATOR,
        },
      },
    },
    os: {
      not_reported: {
        said: 'Das Gerät hat seine Version noch nicht gemeldet.',
        mend: 'Warten Sie fünf Minuten und versuchen Sie es erneut.',
      },
      os_version_unknown: {
        said: 'Die Version ließ sich nicht feststellen.',
        mend: ASK_ADMINISTRATOR,
      },
      os_too_old: {
        said: 'Die Version ist älter als verlangt.',
        mend: {
          linux: 'Steigen Sie auf eine neuere Version Ihrer Distribution um.',
          windows: 'Öffnen Sie Einstellungen → Windows Update und installieren Sie alle Updates.',
        },
      },
    },
    agent: {
      agent_too_old: {
        said: 'Der Agent ist älter als verlangt.',
        mend: 'Er aktualisiert sich innerhalb eines Tages, solange das Gerät online ist.',
      },
    },
    fresh: {
      not_reported: {
        said: 'Das Gerät hat noch nichts gemeldet.',
        mend: 'Warten Sie fünf Minuten und versuchen Sie es erneut.',
      },
      facts_too_old: {
        said: 'Die letzte Meldung ist zu alt.',
        mend: 'Lassen Sie das Gerät fünf Minuten online und versuchen Sie es erneut.',
      },
    },
  },
  notKnown: (reason) => `Gemeldet als „${reason}“.`,
  collected: [
    'Ob die Festplatte verschlüsselt ist, und wenn nicht, welche Laufwerke es betrifft',
    'Ob Sicherheitsupdates oder ein Neustart ausstehen, und für welche Pakete',
    'Ob eine Firewall eingeschaltet ist und der Bildschirm sich von selbst sperrt',
    'Ob Secure Boot eingeschaltet ist und es ein TPM gibt',
    'Betriebssystem, Version, Gerätename und ein Fingerabdruck der Gerätekennung',
  ],
  notCollected:
    'Der Agent liest weder Ihre Dateien noch Ihren Browserverlauf oder Ihren Standort, und niemand kann durch ihn Befehle ausführen.',
}
