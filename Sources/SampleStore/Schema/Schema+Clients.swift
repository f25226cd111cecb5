extension Schema {
    /// A program that uses the API. A number is never reused, so no client gets access to samples that an earlier client wrote.
    ///
    /// - `required`: the clinical types that a client cannot work without, separated by commas. NULL until the client is added with them or
    ///   requests them for the first time. After that only a person changes them. If a client could choose them with each request, it would
    ///   learn which types were denied.
    static let client = """
        CREATE TABLE client(
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, purpose TEXT NOT NULL, policy TEXT, added INTEGER NOT NULL,
            expires INTEGER, required TEXT);
        """

    /// The app of a client that is a phone, NULL for other clients. Added in step 3. Before, the purpose of a client showed it.
    static let clientApp = """
        ALTER TABLE client ADD COLUMN app TEXT;
        UPDATE client SET app = 'health-auto-export' WHERE purpose = 'Posts of Health Auto Export';
        UPDATE client SET app = 'hc-webhook' WHERE purpose = 'Posts of HC Webhook';
        """

    /// The digest of a token that a client authenticates with.
    static let token = """
        CREATE TABLE token(
            digest BLOB PRIMARY KEY, client INTEGER NOT NULL, made INTEGER NOT NULL, expires INTEGER, revoked INTEGER) WITHOUT ROWID;
        """

    /// A client's permissions for a type of a person.
    ///
    /// - `read_from`: the start of the earliest readable samples, NULL if none are readable.
    /// - `after`: for types that are granted object by object, samples after this change number are all readable. If it is NULL, only those
    ///   of ``grantedObject`` are.
    static let granted = """
        CREATE TABLE granted(
            client INTEGER NOT NULL, subject TEXT NOT NULL, type TEXT NOT NULL, read_from INTEGER, after INTEGER,
            may_write INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY(client, subject, type)) WITHOUT ROWID;
        """

    /// An object that a client may read. Objects that arrive after a grant that includes later objects get a row as well, so a reader looks
    /// up the granted objects and does not scan the others. `widening` is the widening with which the object was granted. It is 0 if the
    /// object arrived after a grant that includes later objects.
    static let grantedObject = """
        CREATE TABLE granted_object(
            client INTEGER NOT NULL, series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL,
            widening INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY(client, series, start, hash)) WITHOUT ROWID;
        """

    /// An extension of a client's read permission for a type of a person. It contains the start from which the client could read before
    /// (NULL: nothing), and whether it could write. A reader of changes that is already past the extension gets the samples that became
    /// readable.
    static let widening = """
        CREATE TABLE widening(
            id INTEGER PRIMARY KEY AUTOINCREMENT, client INTEGER NOT NULL, subject TEXT NOT NULL, type TEXT NOT NULL, read_from INTEGER,
            might_write INTEGER NOT NULL);
        CREATE INDEX widening_by_client ON widening(client);
        """

    /// The access that a client requested, and when a person answered. The answer itself is not stored here.
    static let asked = """
        CREATE TABLE asked(
            client INTEGER NOT NULL, subject TEXT NOT NULL, type TEXT NOT NULL, access TEXT NOT NULL, asked INTEGER, answered INTEGER,
            PRIMARY KEY(client, subject, type, access)) WITHOUT ROWID;
        """

    /// How many objects of a type a client read on a day.
    static let readBy = """
        CREATE TABLE read_by(
            client INTEGER NOT NULL, subject TEXT NOT NULL, type TEXT NOT NULL, day TEXT NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY(client, subject, type, day)) WITHOUT ROWID;
        """

    /// The outcome of a client's request that had an idempotency key, one letter for each object. It is stored under the digests of the key
    /// and of the request. The same request gets the same answer again.
    static let savedAnswer = """
        CREATE TABLE saved_answer(
            client INTEGER NOT NULL, key BLOB NOT NULL, request BLOB NOT NULL, outcomes TEXT NOT NULL, time INTEGER NOT NULL,
            PRIMARY KEY(client, key)) WITHOUT ROWID;
        """

    /// The digest of a code that opens the page once, within some minutes.
    static let pageCode = """
        CREATE TABLE page_code(digest BLOB PRIMARY KEY, subject TEXT NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
        """

    /// The digest of the secret of one signed-in browser, and the subject of the person whose data it shows. `opener` is the person who
    /// logged in, if the browser shows another person's data.
    static let pageSession = """
        CREATE TABLE page_session(
            id INTEGER PRIMARY KEY AUTOINCREMENT, digest BLOB NOT NULL, subject TEXT NOT NULL, made INTEGER NOT NULL,
            expires INTEGER NOT NULL, opener TEXT);
        """

    /// A sample that is written to the store of a phone, the client. Added in step 2.
    ///
    /// - `key`: identifies the record on the phone (`clientRecordId`). The sample that a repair puts in the place of another has the same key.
    /// - `version`: rises with each change of the record and is never used again for this phone.
    /// - `part`: the sample is the second value of a record, such as a diastolic pressure.
    /// - `deletion`: the record is to be deleted.
    /// - `superseded`: another sample has taken the place of this one.
    /// - `offered`, `acknowledged`: the last versions that the phone was offered and that it acknowledged. 0 if there are none.
    /// - `outcome`, `reason`: the phone's report about the acknowledged version.
    static let writeBack = """
        CREATE TABLE write_back(
            client INTEGER NOT NULL, series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, key TEXT NOT NULL,
            version INTEGER NOT NULL, part INTEGER NOT NULL, deletion INTEGER NOT NULL, superseded INTEGER NOT NULL,
            offered INTEGER NOT NULL, acknowledged INTEGER NOT NULL, outcome TEXT, reason TEXT,
            PRIMARY KEY(client, series, start, hash)) WITHOUT ROWID;
        CREATE INDEX write_back_by_key ON write_back(client, key);
        CREATE INDEX write_back_pending ON write_back(client, version) WHERE version > acknowledged AND NOT superseded AND NOT part;
        """

    /// A phone with samples to write. Added in step 2.
    ///
    /// - `anchor`: the position in the changes up to which the rows of ``writeBack`` are complete. Empty at the beginning.
    /// - `version`: the last version of a row.
    /// - `sources`: the names under which the phone shows its records, separated by line feeds.
    static let writeBackPhone = """
        CREATE TABLE write_back_phone(
            client INTEGER PRIMARY KEY, anchor TEXT NOT NULL, version INTEGER NOT NULL, sources TEXT NOT NULL);
        """
}
