# Bash completion for vitalgate.

_vitalgate_commands() {
    case "$1" in
        '') candidates=('import' 'query' 'stats' 'today' 'show' 'export' 'devices' 'status' 'doctor' 'run' 'add' 'delete' 'deleted' 'restore' 'changes' 'rings' 'medications' 'types' 'unit' 'scan' 'decode' 'capture' 'replay' 'profile' 'repair' 'quarantine' 'ledger' 'sources' 'estimate' 'targets' 'observe' 'collect' 'fleet' 'people' 'alerts' 'characteristics' 'clients' 'api' 'page' 'phones' 'setup' 'store' 'generate' 'help') ;;
        '/devices') candidates=('list' 'adopt' 'pair' 'forget' 'merge' 'part' 'assign' 'request') ;;
        '/deleted') candidates=('list') ;;
        '/medications') candidates=('list' 'set' 'remove') ;;
        '/unit') candidates=('convert') ;;
        '/profile') candidates=('list' 'show' 'check' 'test' 'suggest') ;;
        '/repair') candidates=('plan' 'apply' 'undo' 'suggest' 'list' 'show') ;;
        '/quarantine') candidates=('list' 'show' 'accept' 'reject') ;;
        '/ledger') candidates=('list' 'show' 'undo') ;;
        '/sources') candidates=('list' 'priority') ;;
        '/targets') candidates=('add' 'remove' 'list' 'status' 'check' 'retry' 'skip' 'verify' 'restart') ;;
        '/fleet') candidates=('enroll' 'join' 'hubs' 'status' 'revoke' 'replace' 'command' 'set' 'profile' 'check' 'erase' 'broker-config' 'key') ;;
        '/people') candidates=('list' 'add' 'rename' 'remove' 'erase') ;;
        '/alerts') candidates=('list' 'add' 'remove' 'acknowledge' 'history' 'receivers' 'test' 'watch') ;;
        '/characteristics') candidates=('list' 'set') ;;
        '/clients') candidates=('list' 'add' 'token' 'requires' 'revoke' 'forget' 'grants' 'grant' 'withdraw' 'requests' 'log') ;;
        '/api') candidates=('serve' 'openapi' 'certificate') ;;
        '/page') candidates=('open' 'sessions') ;;
        '/phones') candidates=('add' 'list') ;;
        '/store') candidates=('check' 'merge' 'prune' 'restore' 'backup' 'adopt' 'stats') ;;
        '/generate') candidates=('bash-completion' 'man' 'udev' 'devices') ;;
        *) ;;
    esac
}

_vitalgate_options() {
    case "$1" in
        '') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/import') candidates=('--from' '--files-from' '--profile' '--person' '--only-person' '--time-zone' '--date-order' '--unit' '--decimal' '--grouping' '--exact' '--keep-invalid-documents' '--whole' '--no-links' '--dry-run' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/query') candidates=('--from' '--to' '--person' '--source' '--device' '--kind' '--unit' '--where' '--sort' '--limit' '--explain' '--chart' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/stats') candidates=('--every' '--anchor' '--from' '--to' '--time-zone' '--own-zone' '--person' '--source' '--device' '--where' '--by-source' '--every-source' '--show' '--percentiles' '--in-range' '--empty' '--unit' '--limit' '--plot' '--follow' '--explain' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/today') candidates=('--person' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/show') candidates=('--raw' '--points' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/export') candidates=('--once' '--until-eof' '--to' '--format' '--types' '--from' '--until' '--person' '--where' '--time-zone' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/devices') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/devices/list') candidates=('--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/devices/adopt') candidates=('--profile' '--person' '--name' '--bind-key' '--seconds' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/devices/pair') candidates=('--seconds' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/devices/forget') candidates=('--bond' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/devices/merge') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/devices/part') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/devices/assign') candidates=('--person' '--range' '--user' '--consent' '--samples' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/devices/request') candidates=('--seconds' '--connect' '--keep-name' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/status') candidates=('--follow' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/doctor') candidates=('--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/run') candidates=('--capture' '--once' '--inbox' '--simulate' '--capture-size' '--verbose' '--time-zone' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/add') candidates=('--at' '--person' '--time-zone' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/delete') candidates=('--type' '--from' '--to' '--person' '--source' '--device' '--where' '--time-zone' '--with-objects' '--yes' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/deleted') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/deleted/list') candidates=('--type' '--from' '--to' '--person' '--limit' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/restore') candidates=('--with-objects' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/changes') candidates=('--after' '--types' '--follow' '--no-hurry' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/rings') candidates=('--from' '--to' '--person' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/medications') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/medications/list') candidates=('--person' '--all' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/medications/set') candidates=('--person' '--nickname' '--form' '--code' '--scheduled' '--as-needed' '--archived' '--taken' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/medications/remove') candidates=('--person' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/types') candidates=('--ids' '--kind' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/unit') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/unit/convert') candidates=('--molar-mass' '--type' '--dialect' '--format' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/scan') candidates=('--seconds' '--all' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/decode') candidates=('--profile' '--name' '--strict' '--bind-key' '--address' '--file' '--times' '--person' '--time-zone' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/capture') candidates=('--once' '--inbox' '--simulate' '--capture-size' '--verbose' '--time-zone' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/replay') candidates=('--into' '--device' '--verbose' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/profile') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/profile/list') candidates=('--ids' '--devices' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/profile/show') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/profile/check') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/profile/test') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/profile/suggest') candidates=('--id' '--capture' '--device' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/repair') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/repair/plan') candidates=('--type' '--source' '--source-version' '--device' '--firmware' '--person' '--from' '--to' '--received-from' '--received-to' '--where' '--read-as' '--scale' '--shift' '--move-zone' '--assign' '--set-type' '--correction' '--ambiguous' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/repair/apply') candidates=('--type' '--source' '--source-version' '--device' '--firmware' '--person' '--from' '--to' '--received-from' '--received-to' '--where' '--read-as' '--scale' '--shift' '--move-zone' '--assign' '--set-type' '--correction' '--ambiguous' '--time-zone' '--format' '--safe' '--merge' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/repair/undo') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/repair/suggest') candidates=('--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/repair/list') candidates=('--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/repair/show') candidates=('--pairs' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/quarantine') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/quarantine/list') candidates=('--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/quarantine/show') candidates=('--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/quarantine/accept') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/quarantine/reject') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/ledger') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/ledger/list') candidates=('--limit' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/ledger/show') candidates=('--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/ledger/undo') candidates=('--forget' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/sources') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/sources/list') candidates=('--person' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/sources/priority') candidates=('--person' '--clear' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/estimate') candidates=('--formula' '--person' '--from' '--to' '--time-zone' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/targets') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/targets/add') candidates=('--no-check' '--create' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/targets/remove') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/targets/list') candidates=('--names' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/targets/status') candidates=('--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/targets/check') candidates=('--create' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/targets/retry') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/targets/skip') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/targets/verify') candidates=('--dry-run' '--days' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/targets/restart') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/observe') candidates=('--types' '--frequency' '--socket' '--until-eof' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/collect') candidates=('--create' '--check' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet/enroll') candidates=('--name' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet/join') candidates=('--target' '--certificate-authority' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet/hubs') candidates=('--names' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet/status') candidates=('--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet/revoke') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet/replace') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet/command') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet/set') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet/profile') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet/check') candidates=('--repair' '--seconds' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet/erase') candidates=('--yes' '--readmit' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet/broker-config') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/fleet/key') candidates=('--sealing' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/people') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/people/list') candidates=('--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/people/add') candidates=('--id' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/people/rename') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/people/remove') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/people/erase') candidates=('--yes' '--without' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/alerts') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/alerts/list') candidates=('--person' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/alerts/add') candidates=('--margin' '--for' '--hold' '--person' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/alerts/remove') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/alerts/acknowledge') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/alerts/history') candidates=('--alert' '--limit' '--person' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/alerts/receivers') candidates=('--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/alerts/test') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/alerts/watch') candidates=('--until-eof' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/characteristics') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/characteristics/list') candidates=('--person' '--history' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/characteristics/set') candidates=('--person' '--from' '--clear' '--time-zone' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/clients') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/clients/list') candidates=('--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/clients/add') candidates=('--purpose' '--policy' '--requires' '--expires' '--time-zone' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/clients/token') candidates=('--revoke' '--expires' '--time-zone' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/clients/requires') candidates=('--requires' '--none' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/clients/revoke') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/clients/forget') candidates=('--delete' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/clients/grants') candidates=('--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/clients/grant') candidates=('--read' '--write' '--person' '--from' '--objects' '--future' '--time-zone' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/clients/withdraw') candidates=('--read' '--write' '--person' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/clients/requests') candidates=('--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/clients/log') candidates=('--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/api') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/api/serve') candidates=('--time-zone' '--inbox' '--until-eof' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/api/openapi') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/api/certificate') candidates=('--folder' '--renew' '--new-authority' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/page') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/page/open') candidates=('--person' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/page/sessions') candidates=('--end' '--end-all' '--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/phones') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/phones/add') candidates=('--person' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/phones/list') candidates=('--time-zone' '--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/setup') candidates=('--port' '--yes' '--undo' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/store') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/store/check') candidates=('--deep' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/store/merge') candidates=('--yes' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/store/prune') candidates=('--type' '--before' '--yes' '--confirm' '--set-back' '--time-zone' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/store/restore') candidates=('--with-objects' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/store/backup') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/store/adopt') candidates=('--moved' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/store/stats') candidates=('--format' '--safe' '--store' '--config' '--profiles' '--help' '--version') ;;
        '/generate') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/generate/bash-completion') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/generate/man') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/generate/udev') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        '/generate/devices') candidates=('--store' '--config' '--profiles' '--help' '--version') ;;
        *) ;;
    esac
}

_vitalgate_option() {
    case "$1 $2" in
        '/import --from') kind=program; candidates=('targets' 'list' '--names') ;;
        '/import --files-from') kind=file ;;
        '/import --profile') kind=program; candidates=('profile' 'list' '--ids') ;;
        '/import --person') kind=none ;;
        '/import --only-person') kind= ;;
        '/import --time-zone') kind=none ;;
        '/import --date-order') kind=words; candidates=('DMY' 'MDY' 'YMD') ;;
        '/import --unit') kind=none ;;
        '/import --decimal') kind=words; candidates=('point' 'comma') ;;
        '/import --grouping') kind=words; candidates=('none' 'seconds' 'minutes' 'hours' 'days' 'weeks' 'months' 'years') ;;
        '/import --exact') kind= ;;
        '/import --keep-invalid-documents') kind= ;;
        '/import --whole') kind= ;;
        '/import --no-links') kind= ;;
        '/import --dry-run') kind= ;;
        '/import --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/import --safe') kind= ;;
        '/query --from') kind=none ;;
        '/query --to') kind=none ;;
        '/query --person') kind=none ;;
        '/query --source') kind=none ;;
        '/query --device') kind=none ;;
        '/query --kind') kind=words; candidates=('quantity' 'category' 'correlation' 'workout' 'activitySummary' 'workoutRoute' 'heartbeatSeries' 'electrocardiogram' 'audiogram' 'visionPrescription' 'stateOfMind' 'medicationDoseEvent' 'scoredAssessment' 'clinicalRecord' 'document') ;;
        '/query --unit') kind=none ;;
        '/query --where') kind=none ;;
        '/query --sort') kind=words; candidates=('start' '-start' 'end' '-end' 'value' '-value' 'duration' '-duration' 'type') ;;
        '/query --limit') kind=none ;;
        '/query --explain') kind= ;;
        '/query --chart') kind= ;;
        '/query --time-zone') kind=none ;;
        '/query --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/query --safe') kind= ;;
        '/stats --every') kind=none ;;
        '/stats --anchor') kind=none ;;
        '/stats --from') kind=none ;;
        '/stats --to') kind=none ;;
        '/stats --time-zone') kind=none ;;
        '/stats --own-zone') kind= ;;
        '/stats --person') kind=none ;;
        '/stats --source') kind=none ;;
        '/stats --device') kind=none ;;
        '/stats --where') kind=none ;;
        '/stats --by-source') kind= ;;
        '/stats --every-source') kind= ;;
        '/stats --show') kind=none ;;
        '/stats --percentiles') kind= ;;
        '/stats --in-range') kind=none ;;
        '/stats --empty') kind= ;;
        '/stats --unit') kind=none ;;
        '/stats --limit') kind=none ;;
        '/stats --plot') kind= ;;
        '/stats --follow') kind= ;;
        '/stats --explain') kind= ;;
        '/stats --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/stats --safe') kind= ;;
        '/today --person') kind=none ;;
        '/today --time-zone') kind=none ;;
        '/today --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/today --safe') kind= ;;
        '/show --raw') kind= ;;
        '/show --points') kind= ;;
        '/show --time-zone') kind=none ;;
        '/show --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/show --safe') kind= ;;
        '/export --once') kind= ;;
        '/export --until-eof') kind= ;;
        '/export --to') kind=file ;;
        '/export --format') kind=words; candidates=('ndjson' 'csv' 'wide' 'report' 'apple-health') ;;
        '/export --types' | '/export --type') kind=none ;;
        '/export --from') kind=none ;;
        '/export --until') kind=none ;;
        '/export --person') kind=none ;;
        '/export --where') kind=none ;;
        '/export --time-zone') kind=none ;;
        '/devices/list --time-zone') kind=none ;;
        '/devices/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/devices/list --safe') kind= ;;
        '/devices/adopt --profile') kind=program; candidates=('profile' 'list' '--ids') ;;
        '/devices/adopt --person') kind=none ;;
        '/devices/adopt --name') kind=none ;;
        '/devices/adopt --bind-key') kind=none ;;
        '/devices/adopt --seconds') kind=none ;;
        '/devices/pair --seconds') kind=none ;;
        '/devices/forget --bond') kind= ;;
        '/devices/assign --person') kind=none ;;
        '/devices/assign --range') kind=none ;;
        '/devices/assign --user') kind=none ;;
        '/devices/assign --consent') kind=none ;;
        '/devices/assign --samples') kind=none ;;
        '/devices/request --seconds') kind=none ;;
        '/devices/request --connect') kind= ;;
        '/devices/request --keep-name') kind= ;;
        '/status --follow') kind= ;;
        '/status --time-zone') kind=none ;;
        '/status --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/status --safe') kind= ;;
        '/doctor --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/doctor --safe') kind= ;;
        '/run --capture') kind=file ;;
        '/run --once') kind= ;;
        '/run --inbox') kind=directory ;;
        '/run --simulate') kind= ;;
        '/run --capture-size') kind=none ;;
        '/run --verbose') kind= ;;
        '/run --time-zone') kind=none ;;
        '/add --at') kind=none ;;
        '/add --person') kind=none ;;
        '/add --time-zone') kind=none ;;
        '/delete --type') kind=program; candidates=('types' '--ids') ;;
        '/delete --from') kind=none ;;
        '/delete --to') kind=none ;;
        '/delete --person') kind=none ;;
        '/delete --source') kind=none ;;
        '/delete --device') kind=none ;;
        '/delete --where') kind=none ;;
        '/delete --time-zone') kind=none ;;
        '/delete --with-objects') kind= ;;
        '/delete --yes') kind= ;;
        '/deleted/list --type') kind=program; candidates=('types' '--ids') ;;
        '/deleted/list --from') kind=none ;;
        '/deleted/list --to' | '/deleted/list --until') kind=none ;;
        '/deleted/list --person') kind=none ;;
        '/deleted/list --limit') kind=none ;;
        '/deleted/list --time-zone') kind=none ;;
        '/deleted/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/deleted/list --safe') kind= ;;
        '/restore --with-objects') kind= ;;
        '/changes --after') kind=none ;;
        '/changes --types') kind=none ;;
        '/changes --follow') kind= ;;
        '/changes --no-hurry') kind= ;;
        '/rings --from') kind=none ;;
        '/rings --to') kind=none ;;
        '/rings --person') kind=none ;;
        '/rings --time-zone') kind=none ;;
        '/rings --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/rings --safe') kind= ;;
        '/medications/list --person') kind=none ;;
        '/medications/list --all') kind= ;;
        '/medications/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/medications/list --safe') kind= ;;
        '/medications/set --person') kind=none ;;
        '/medications/set --nickname') kind=none ;;
        '/medications/set --form') kind=words; candidates=('capsule' 'cream' 'device' 'drops' 'foam' 'gel' 'inhaler' 'injection' 'liquid' 'lotion' 'ointment' 'patch' 'powder' 'spray' 'suppository' 'tablet' 'topical' 'unknown') ;;
        '/medications/set --code') kind=none ;;
        '/medications/set --scheduled') kind= ;;
        '/medications/set --as-needed') kind= ;;
        '/medications/set --archived') kind= ;;
        '/medications/set --taken') kind= ;;
        '/medications/remove --person') kind=none ;;
        '/types --ids') kind= ;;
        '/types --kind') kind=words; candidates=('quantity' 'category' 'correlation' 'workout' 'activitySummary' 'workoutRoute' 'heartbeatSeries' 'electrocardiogram' 'audiogram' 'visionPrescription' 'stateOfMind' 'medicationDoseEvent' 'scoredAssessment' 'clinicalRecord' 'document') ;;
        '/types --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/types --safe') kind= ;;
        '/unit/convert --molar-mass') kind=none ;;
        '/unit/convert --type') kind=program; candidates=('types' '--ids') ;;
        '/unit/convert --dialect') kind=words; candidates=('ucum' 'healthkit') ;;
        '/unit/convert --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/scan --seconds') kind=none ;;
        '/scan --all') kind= ;;
        '/scan --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/scan --safe') kind= ;;
        '/decode --profile') kind=program; candidates=('profile' 'list' '--ids') ;;
        '/decode --name') kind=none ;;
        '/decode --strict') kind= ;;
        '/decode --bind-key') kind=none ;;
        '/decode --address') kind=none ;;
        '/decode --file') kind=file ;;
        '/decode --times') kind=none ;;
        '/decode --person') kind=none ;;
        '/decode --time-zone') kind=none ;;
        '/capture --once') kind= ;;
        '/capture --inbox') kind=directory ;;
        '/capture --simulate') kind= ;;
        '/capture --capture-size') kind=none ;;
        '/capture --verbose') kind= ;;
        '/capture --time-zone') kind=none ;;
        '/replay --into') kind=file ;;
        '/replay --device') kind=none ;;
        '/replay --verbose') kind= ;;
        '/replay --time-zone') kind=none ;;
        '/replay --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/replay --safe') kind= ;;
        '/profile/list --ids') kind= ;;
        '/profile/list --devices') kind= ;;
        '/profile/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/profile/list --safe') kind= ;;
        '/profile/suggest --id') kind=none ;;
        '/profile/suggest --capture') kind= ;;
        '/profile/suggest --device') kind=none ;;
        '/repair/plan --type') kind=program; candidates=('types' '--ids') ;;
        '/repair/plan --source') kind=none ;;
        '/repair/plan --source-version') kind=none ;;
        '/repair/plan --device') kind=none ;;
        '/repair/plan --firmware') kind=none ;;
        '/repair/plan --person') kind=none ;;
        '/repair/plan --from') kind=none ;;
        '/repair/plan --to') kind=none ;;
        '/repair/plan --received-from') kind=none ;;
        '/repair/plan --received-to') kind=none ;;
        '/repair/plan --where') kind=none ;;
        '/repair/plan --read-as') kind=none ;;
        '/repair/plan --scale') kind=none ;;
        '/repair/plan --shift') kind=none ;;
        '/repair/plan --move-zone') kind=none ;;
        '/repair/plan --assign') kind=none ;;
        '/repair/plan --set-type') kind=program; candidates=('types' '--ids') ;;
        '/repair/plan --correction') kind=none ;;
        '/repair/plan --ambiguous') kind= ;;
        '/repair/plan --time-zone') kind=none ;;
        '/repair/plan --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/repair/plan --safe') kind= ;;
        '/repair/apply --type') kind=program; candidates=('types' '--ids') ;;
        '/repair/apply --source') kind=none ;;
        '/repair/apply --source-version') kind=none ;;
        '/repair/apply --device') kind=none ;;
        '/repair/apply --firmware') kind=none ;;
        '/repair/apply --person') kind=none ;;
        '/repair/apply --from') kind=none ;;
        '/repair/apply --to') kind=none ;;
        '/repair/apply --received-from') kind=none ;;
        '/repair/apply --received-to') kind=none ;;
        '/repair/apply --where') kind=none ;;
        '/repair/apply --read-as') kind=none ;;
        '/repair/apply --scale') kind=none ;;
        '/repair/apply --shift') kind=none ;;
        '/repair/apply --move-zone') kind=none ;;
        '/repair/apply --assign') kind=none ;;
        '/repair/apply --set-type') kind=program; candidates=('types' '--ids') ;;
        '/repair/apply --correction') kind=none ;;
        '/repair/apply --ambiguous') kind= ;;
        '/repair/apply --time-zone') kind=none ;;
        '/repair/apply --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/repair/apply --safe') kind= ;;
        '/repair/apply --merge') kind= ;;
        '/repair/suggest --time-zone') kind=none ;;
        '/repair/suggest --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/repair/suggest --safe') kind= ;;
        '/repair/list --time-zone') kind=none ;;
        '/repair/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/repair/list --safe') kind= ;;
        '/repair/show --pairs') kind= ;;
        '/repair/show --time-zone') kind=none ;;
        '/repair/show --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/repair/show --safe') kind= ;;
        '/quarantine/list --time-zone') kind=none ;;
        '/quarantine/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/quarantine/list --safe') kind= ;;
        '/quarantine/show --time-zone') kind=none ;;
        '/quarantine/show --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/quarantine/show --safe') kind= ;;
        '/ledger/list --limit') kind=none ;;
        '/ledger/list --time-zone') kind=none ;;
        '/ledger/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/ledger/list --safe') kind= ;;
        '/ledger/show --time-zone') kind=none ;;
        '/ledger/show --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/ledger/show --safe') kind= ;;
        '/ledger/undo --forget') kind= ;;
        '/sources/list --person') kind=none ;;
        '/sources/list --time-zone') kind=none ;;
        '/sources/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/sources/list --safe') kind= ;;
        '/sources/priority --person') kind=none ;;
        '/sources/priority --clear') kind= ;;
        '/sources/priority --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/sources/priority --safe') kind= ;;
        '/estimate --formula') kind=words; candidates=('foot-to-foot-2015' 'sun-2003' 'janssen-2000') ;;
        '/estimate --person') kind=none ;;
        '/estimate --from') kind=none ;;
        '/estimate --to') kind=none ;;
        '/estimate --time-zone') kind=none ;;
        '/targets/add --no-check') kind= ;;
        '/targets/add --create') kind= ;;
        '/targets/add --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/targets/add --safe') kind= ;;
        '/targets/list --names') kind= ;;
        '/targets/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/targets/list --safe') kind= ;;
        '/targets/status --time-zone') kind=none ;;
        '/targets/status --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/targets/status --safe') kind= ;;
        '/targets/check --create') kind= ;;
        '/targets/check --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/targets/check --safe') kind= ;;
        '/targets/verify --dry-run') kind= ;;
        '/targets/verify --days') kind= ;;
        '/targets/verify --time-zone') kind=none ;;
        '/targets/verify --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/targets/verify --safe') kind= ;;
        '/observe --types') kind=none ;;
        '/observe --frequency') kind=words; candidates=('immediate' 'hourly' 'daily') ;;
        '/observe --socket') kind=file ;;
        '/observe --until-eof') kind= ;;
        '/collect --create') kind= ;;
        '/collect --check') kind= ;;
        '/fleet/enroll --name') kind=none ;;
        '/fleet/join --target') kind=none ;;
        '/fleet/join --certificate-authority') kind=file ;;
        '/fleet/hubs --names') kind= ;;
        '/fleet/hubs --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/fleet/hubs --safe') kind= ;;
        '/fleet/status --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/fleet/status --safe') kind= ;;
        '/fleet/check --repair') kind= ;;
        '/fleet/check --seconds') kind=none ;;
        '/fleet/check --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/fleet/check --safe') kind= ;;
        '/fleet/erase --yes') kind= ;;
        '/fleet/erase --readmit') kind= ;;
        '/fleet/erase --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/fleet/erase --safe') kind= ;;
        '/fleet/key --sealing') kind= ;;
        '/people/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/people/list --safe') kind= ;;
        '/people/add --id') kind=none ;;
        '/people/erase --yes') kind= ;;
        '/people/erase --without') kind=program; candidates=('targets' 'list' '--names') ;;
        '/people/erase --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/people/erase --safe') kind= ;;
        '/alerts/list --person') kind=none ;;
        '/alerts/list --time-zone') kind=none ;;
        '/alerts/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/alerts/list --safe') kind= ;;
        '/alerts/add --margin') kind=none ;;
        '/alerts/add --for') kind=none ;;
        '/alerts/add --hold') kind=none ;;
        '/alerts/add --person') kind=none ;;
        '/alerts/history --alert') kind=none ;;
        '/alerts/history --limit') kind=none ;;
        '/alerts/history --person') kind=none ;;
        '/alerts/history --time-zone') kind=none ;;
        '/alerts/history --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/alerts/history --safe') kind= ;;
        '/alerts/receivers --time-zone') kind=none ;;
        '/alerts/receivers --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/alerts/receivers --safe') kind= ;;
        '/alerts/watch --until-eof') kind= ;;
        '/characteristics/list --person') kind=none ;;
        '/characteristics/list --history') kind= ;;
        '/characteristics/list --time-zone') kind=none ;;
        '/characteristics/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/characteristics/list --safe') kind= ;;
        '/characteristics/set --person') kind=none ;;
        '/characteristics/set --from') kind=none ;;
        '/characteristics/set --clear') kind= ;;
        '/characteristics/set --time-zone') kind=none ;;
        '/clients/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/clients/list --safe') kind= ;;
        '/clients/add --purpose') kind=none ;;
        '/clients/add --policy') kind=none ;;
        '/clients/add --requires') kind=none ;;
        '/clients/add --expires') kind=none ;;
        '/clients/add --time-zone') kind=none ;;
        '/clients/token --revoke') kind= ;;
        '/clients/token --expires') kind=none ;;
        '/clients/token --time-zone') kind=none ;;
        '/clients/requires --requires') kind=none ;;
        '/clients/requires --none') kind= ;;
        '/clients/forget --delete') kind= ;;
        '/clients/grants --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/clients/grants --safe') kind= ;;
        '/clients/grant --read') kind=none ;;
        '/clients/grant --write') kind=none ;;
        '/clients/grant --person') kind=none ;;
        '/clients/grant --from') kind=none ;;
        '/clients/grant --objects') kind=none ;;
        '/clients/grant --future') kind= ;;
        '/clients/grant --time-zone') kind=none ;;
        '/clients/withdraw --read') kind=none ;;
        '/clients/withdraw --write') kind=none ;;
        '/clients/withdraw --person') kind=none ;;
        '/clients/requests --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/clients/requests --safe') kind= ;;
        '/clients/log --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/clients/log --safe') kind= ;;
        '/api/serve --time-zone') kind=none ;;
        '/api/serve --inbox') kind=none ;;
        '/api/serve --until-eof') kind= ;;
        '/api/certificate --folder') kind=none ;;
        '/api/certificate --renew') kind= ;;
        '/api/certificate --new-authority') kind= ;;
        '/page/open --person') kind=none ;;
        '/page/sessions --end') kind=none ;;
        '/page/sessions --end-all') kind= ;;
        '/page/sessions --time-zone') kind=none ;;
        '/page/sessions --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/page/sessions --safe') kind= ;;
        '/phones/add --person') kind=none ;;
        '/phones/list --time-zone') kind=none ;;
        '/phones/list --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/phones/list --safe') kind= ;;
        '/setup --port') kind=none ;;
        '/setup --yes') kind= ;;
        '/setup --undo') kind= ;;
        '/store/check --deep') kind= ;;
        '/store/merge --yes') kind= ;;
        '/store/prune --type') kind=program; candidates=('types' '--ids') ;;
        '/store/prune --before') kind=none ;;
        '/store/prune --yes') kind= ;;
        '/store/prune --confirm') kind= ;;
        '/store/prune --set-back') kind= ;;
        '/store/prune --time-zone') kind=none ;;
        '/store/restore --with-objects') kind= ;;
        '/store/adopt --moved') kind= ;;
        '/store/stats --format') kind=words; candidates=('table' 'ndjson' 'csv') ;;
        '/store/stats --safe') kind= ;;
        *' --store') kind=file; global=1 ;;
        *' --config') kind=file; global=1 ;;
        *' --profiles') kind=directory; global=1 ;;
        *) ;;
    esac
}

_vitalgate_argument() {
    case "$1 $2" in
        '/import '*) kind=file ;;
        '/query 0') kind=program; candidates=('types' '--ids') ;;
        '/stats 0') kind=program; candidates=('types' '--ids') ;;
        '/show 0') kind=none ;;
        '/export 0') kind=program; candidates=('targets' 'list' '--names') ;;
        '/devices/adopt 0') kind=none ;;
        '/devices/pair 0') kind=none ;;
        '/devices/forget 0') kind=none ;;
        '/devices/merge 0') kind=none ;;
        '/devices/merge 1') kind=none ;;
        '/devices/part 0') kind=none ;;
        '/devices/assign 0') kind=none ;;
        '/devices/request 0') kind=none ;;
        '/add 0') kind=program; candidates=('types' '--ids') ;;
        '/add 1') kind=none ;;
        '/add 2') kind=none ;;
        '/delete '*) kind=none ;;
        '/restore '*) kind=none ;;
        '/medications/set 0') kind=none ;;
        '/medications/remove 0') kind=none ;;
        '/unit/convert 0') kind=none ;;
        '/unit/convert 1') kind=none ;;
        '/unit/convert 2') kind=none ;;
        '/decode 0') kind=none ;;
        '/decode 1') kind=none ;;
        '/capture 0') kind=file ;;
        '/replay 0') kind=file ;;
        '/profile/show 0') kind=program; candidates=('profile' 'list' '--ids') ;;
        '/profile/check '*) kind=file ;;
        '/profile/test '*) kind=program; candidates=('profile' 'list' '--ids') ;;
        '/profile/suggest 0') kind=file ;;
        '/repair/undo 0') kind=none ;;
        '/repair/show 0') kind=none ;;
        '/quarantine/show 0') kind=none ;;
        '/quarantine/accept '*) kind=none ;;
        '/quarantine/reject '*) kind=none ;;
        '/ledger/show 0') kind=none ;;
        '/ledger/undo 0') kind=none ;;
        '/sources/list 0') kind=program; candidates=('types' '--ids') ;;
        '/sources/priority 0') kind=program; candidates=('types' '--ids') ;;
        '/sources/priority '*) kind=none ;;
        '/targets/add 0') kind=words; candidates=('files' 'postgresql' 'influxdb' 'mqtt' 'fhir' 'webhook' 'command' 'fleet') ;;
        '/targets/add 1') kind=none ;;
        '/targets/add '*) kind=none ;;
        '/targets/remove 0') kind=program; candidates=('targets' 'list' '--names') ;;
        '/targets/status 0') kind=none ;;
        '/targets/check 0') kind=program; candidates=('targets' 'list' '--names') ;;
        '/targets/retry 0') kind=program; candidates=('targets' 'list' '--names') ;;
        '/targets/retry '*) kind=none ;;
        '/targets/skip 0') kind=program; candidates=('targets' 'list' '--names') ;;
        '/targets/skip '*) kind=none ;;
        '/targets/verify 0') kind=program; candidates=('targets' 'list' '--names') ;;
        '/targets/restart 0') kind=program; candidates=('targets' 'list' '--names') ;;
        '/observe 0') kind=none ;;
        '/observe '*) kind=none ;;
        '/fleet/join 0') kind=none ;;
        '/fleet/join 1') kind=none ;;
        '/fleet/status 0') kind=program; candidates=('fleet' 'hubs' '--names') ;;
        '/fleet/revoke 0') kind=program; candidates=('fleet' 'hubs' '--names') ;;
        '/fleet/replace 0') kind=program; candidates=('fleet' 'hubs' '--names') ;;
        '/fleet/command 0') kind=program; candidates=('fleet' 'hubs' '--names') ;;
        '/fleet/command 1') kind=words; candidates=('adopt' 'assign' 'repair' 'erase' 'verify' 'set' 'profile') ;;
        '/fleet/command '*) kind=none ;;
        '/fleet/set 0') kind=program; candidates=('fleet' 'hubs' '--names') ;;
        '/fleet/set '*) kind=none ;;
        '/fleet/profile 0') kind=program; candidates=('fleet' 'hubs' '--names') ;;
        '/fleet/profile 1') kind=file ;;
        '/fleet/check 0') kind=program; candidates=('fleet' 'hubs' '--names') ;;
        '/fleet/erase 0') kind=none ;;
        '/fleet/key 0') kind=file ;;
        '/people/add 0') kind=none ;;
        '/people/rename 0') kind=none ;;
        '/people/rename 1') kind=none ;;
        '/people/remove 0') kind=none ;;
        '/people/erase 0') kind=none ;;
        '/alerts/add 0') kind=program; candidates=('types' '--ids') ;;
        '/alerts/add 1') kind=words; candidates=('above' 'below' 'missing') ;;
        '/alerts/add 2') kind=none ;;
        '/alerts/add 3') kind=none ;;
        '/alerts/remove 0') kind=none ;;
        '/alerts/acknowledge 0') kind=none ;;
        '/alerts/test 0') kind=none ;;
        '/characteristics/set 0') kind=words; candidates=('dateOfBirth' 'biologicalSex' 'bloodType' 'fitzpatrickSkinType' 'wheelchairUse' 'activityMoveMode') ;;
        '/characteristics/set 1') kind=none ;;
        '/clients/add 0') kind=none ;;
        '/clients/token 0') kind=none ;;
        '/clients/requires 0') kind=none ;;
        '/clients/revoke 0') kind=none ;;
        '/clients/forget 0') kind=none ;;
        '/clients/grants 0') kind=none ;;
        '/clients/grant 0') kind=none ;;
        '/clients/withdraw 0') kind=none ;;
        '/clients/log 0') kind=none ;;
        '/api/certificate '*) kind=none ;;
        '/phones/add 0') kind=none ;;
        '/setup '*) kind=none ;;
        '/store/restore '*) kind=none ;;
        '/store/backup 0') kind=file ;;
        *) ;;
    esac
}

# Proposes the candidates that begin with the typed text. compgen -W would expand them.
_vitalgate_propose() {
    local candidate
    for candidate in "${candidates[@]}"; do
        [[ $candidate == "$typed"* ]] || continue
        candidate=${candidate#"$kept"}
        [[ $quote ]] || printf -v candidate '%q' "$candidate"
        COMPREPLY+=("$added$candidate")
    done
}

# Proposes values of the kind that one of the tables has set.
_vitalgate_propose_value() {
    case $kind in
        file | directory)
            local flag=-f
            [[ $kind == directory ]] && flag=-d
            # compopt fails outside of programmable completion, for example in a test.
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen "$flag" -- "$typed")
            COMPREPLY=("${COMPREPLY[@]#"$kept"}")
            COMPREPLY=("${COMPREPLY[@]/#/"$added"}")
            ;;
        program)
            local name=${words[0]}
            [[ $name == '~/'* ]] && name=$HOME/${name#'~/'}
            type -P -- "$name" >/dev/null || name='vitalgate'
            mapfile -t candidates < <("$name" "${candidates[@]}" "${globals[@]}" 2>/dev/null </dev/null)
            _vitalgate_propose
            ;;
        command)
            mapfile -t candidates < <("${candidates[@]}" 2>/dev/null </dev/null)
            _vitalgate_propose
            ;;
        words) _vitalgate_propose ;;
        *) ;;
    esac
}

_vitalgate() {
    local -a words=() candidates=() globals=()
    local i word typed rest kind kept='' added='' quote='' IFS=$' \t\n'
    local glued='' path='' helping='' ended='' pending='' global='' place=0
    COMPREPLY=()

    # Bash splits words at = and :, so they are joined again here.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 0)) && [[ $word =~ ^[=:]+$ ]]; then
            words[-1]+=$word
            glued=1
        elif [[ $glued ]]; then
            words[-1]+=$word
            glued=''
        else
            words+=("$word")
        fi
    done

    # Finds the command, the number of arguments, and a pending option before the cursor.
    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        word=${words[i]}
        kind='' global=''
        if [[ ! $ended && $word == -- ]]; then
            ended=1
        elif [[ ! $ended && $word == -?* && ! $word =~ ^-\.?[0-9] ]]; then
            _vitalgate_option "$path" "${word%%=*}"
            local -a given=("$word")
            if [[ $kind && $word != *=* ]]; then
                ((++i == ${#words[@]} - 1)) && pending=$word
                given+=("${words[i]}")
            fi
            # Only plain words are passed to the program. Typed text is never evaluated.
            [[ $global && ! $pending && ! "${given[*]}" =~ [^A-Za-z0-9_./:,+@%=\ -] ]] && globals+=("${given[@]}")
        else
            candidates=()
            _vitalgate_commands "$path"
            if [[ ! $path && $word == help && ${#candidates[@]} -gt 0 ]]; then
                helping=1
            elif [[ " ${candidates[*]} " == *" $word "* ]]; then
                path+=/$word
            else
                ((place++))
            fi
        fi
    done

    typed=${words[-1]}
    kind=''
    candidates=()
    if [[ $pending ]]; then
        _vitalgate_option "$path" "$pending"
    elif [[ ! $ended && $typed == --*=* ]]; then
        _vitalgate_option "$path" "${typed%%=*}"
        [[ $COMP_WORDBREAKS == *=* ]] || added=${typed%%=*}=
        typed=${typed#*=}
    elif [[ ! $ended && $typed == -* && ! $typed =~ ^-\.?[0-9] ]]; then
        _vitalgate_options "$path"
        kind=words
    else
        _vitalgate_commands "$path"
        if [[ ${#candidates[@]} -gt 0 ]]; then
            kind=words
        elif [[ ! $helping ]]; then
            _vitalgate_argument "$path" "$place"
        fi
    fi

    # Quoted text is compared without its quotes.
    case $typed in
        [\"\']*) quote=${typed:0:1} typed=${typed:1} ;;
        *\\*) [[ $kind == file || $kind == directory ]] || typed=${typed//\\/} ;;
    esac
    # Bash replaces only the text after the last word break, so the text before it must not be repeated.
    if [[ ! $quote ]]; then
        rest=$typed
        [[ $COMP_WORDBREAKS == *=* ]] && rest=${rest##*=}
        [[ $COMP_WORDBREAKS == *:* ]] && rest=${rest##*:}
        kept=${typed%"$rest"}
    fi
    _vitalgate_propose_value
}

complete -F _vitalgate 'vitalgate'
