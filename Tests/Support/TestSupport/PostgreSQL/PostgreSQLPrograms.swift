import Foundation

/// The programs of a PostgreSQL server on this machine.
struct PostgreSQLPrograms {
    /// The folder of `postgres` and `initdb`.
    let folder: String

    /// The newest version; nil if there is no version from 13 on.
    static let installed: PostgreSQLPrograms? = {
        let debian = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []).compactMap { Int($0) }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders =
            versions.filter { $0 >= 13 }.sorted(by: >).map { "\(debian)/\($0)/bin" }
            + path.split(separator: ":").map(String.init)
        return folders.first { folder in
            ["postgres", "initdb"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
        }.map(PostgreSQLPrograms.init)
    }()

    /// The user that runs the server, because the server refuses to run as root.
    struct Owner {
        private(set) var user: uid_t
        private(set) var group: gid_t
        /// The words before a command that is run as this user.
        private(set) var prefix: [String]

        /// - Throws: If this process is root and there is no other user.
        init() throws {
            (user, group, prefix) = (geteuid(), getegid(), [])
            guard user == 0 else { return }
            for name in ["postgres", "nobody"] {
                guard let entry = getpwnam(name)?.pointee else { continue }
                (user, group) = (entry.pw_uid, entry.pw_gid)
                if Subprocess.isInPath("setpriv") {
                    prefix = ["setpriv", "--reuid=\(user)", "--regid=\(group)", "--clear-groups", "--"]
                } else {
                    prefix = ["runuser", "-u", name, "--"]
                }
                return
            }
            throw PostgreSQLServer.Failure(
                "PostgreSQL refuses to run as root, and there is no user postgres or nobody.")
        }
    }
}
