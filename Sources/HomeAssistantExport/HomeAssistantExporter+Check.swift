import HomeAssistantKit
import Pipeline

extension HomeAssistantExporter {
    package func check() throws(DeliveryError) -> [Finding] {
        // It logs in, and its first barrier needs an administrator.
        let session = try opened()
        let client = session.client
        let info = try asking { try session.info() }
        guard info.recording, info.threadRunning else {
            throw DeliveryError(
                .unfit,
                "Home Assistant's recorder does not run: look into its log, or restart Home Assistant")
        }
        var findings = [
            Finding(.good, address, "Home Assistant \(client.version), the token is an administrator's, the recorder runs")
        ]
        if info.migrationInProgress {
            findings.append(Finding(.warning, address, "its recorder converts its database, so that rows wait"))
        }
        let zone = client.configuration.timeZone
        if hours.zone(zone) == nil {
            findings.append(Finding(.warning, address, "its time zone \(zone) is not known on this machine (package tzdata)"))
        }
        if !session.canDeleteRows {
            findings.append(
                Finding(
                    .good, address,
                    "hours whose last reading is deleted become empty rows, because only 2026.11 and newer delete rows"))
        }
        return findings
    }
}
