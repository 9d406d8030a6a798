import Foundation

/// A process with a PostgreSQL server as its child. It reaps the server when the server ends. When this process ends, the
/// guardian reads the end of its input and ends the server.
final class ServerSupervisor: Sendable {
    private let input: FileHandle
    private let output: FileHandle

    /// The folder of the server's files and socket.
    let folder: String

    /// Makes the files of a server, without starting it.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of `postgres` besides the folder.
    ///   - primaryPort: The port of the primary server, for a standby; nil for a server without primary.
    init(_ programs: PostgreSQLPrograms, _ arguments: [String], standbyOf primaryPort: Int? = nil) throws {
        // In `/tmp`, because the path of a socket has at most 107 bytes, and the folder for temporary files may be deeper.
        var template = Array("/tmp/postgresql-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw PostgreSQLServer.Failure("No folder can be made in /tmp.") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let owner = try PostgreSQLPrograms.Owner()
        chown(folder, owner.user, owner.group)
        let (input, output) = (Pipe(), Pipe())
        for handle in [input.fileHandleForWriting, output.fileHandleForReading] {
            _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.currentDirectoryURL = URL(filePath: "/")
        let postgres = ["\(programs.folder)/postgres", "-D", "\(folder)/data", "-k", folder] + arguments
        process.arguments =
            owner.prefix + ["/bin/sh", "-c", ServerSupervisor.script, "guardian", folder, programs.folder]
            + [primaryPort.map { "\($0)" } ?? ""] + postgres
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        (self.input, self.output) = (input.fileHandleForWriting, output.fileHandleForReading)
        guard answer() == "ready" else { throw PostgreSQLServer.Failure("The server's files were not made: \(log)") }
    }

    deinit { try? input.close() }

    /// When the input ends, the script kills the server at once and deletes its files, which are not needed any more.
    private static let script = """
        folder=$1 programs=$2 primary=$3
        shift 3
        exec 2>>"$folder/log"
        if [ -n "$primary" ]; then
            "$programs/pg_basebackup" -D "$folder/data" -R -X stream -c fast --no-sync \
                -d "host=127.0.0.1 port=$primary user=\(PostgreSQLServer.user)" >&2 || { echo failed; exit 1; }
        else
            "$programs/initdb" -D "$folder/data" -U \(PostgreSQLServer.user) -A trust -E UTF8 --locale=C --no-sync \
                --no-instructions >&2 || { echo failed; exit 1; }
            { echo "host all +with_password all scram-sha-256"; cat "$folder/data/pg_hba.conf"; } >"$folder/hba"
            mv "$folder/hba" "$folder/data/pg_hba.conf"
        fi
        mkfifo "$folder/alive"
        server=
        end() {
            kill -"$1" "$server"
            wait "$server"
            # All processes of the server have the fifo open. The last one of them has ended when this reads the end.
            wait "$alive"
            server=
        }
        echo ready
        while read -r command; do
            case $command in
            start)
                cat "$folder/alive" >/dev/null &
                alive=$!
                "$@" >"$folder/alive" </dev/null &
                server=$!
                echo "$server" ;;
            *)
                end "$command"
                echo ended ;;
            esac
        done
        [ -z "$server" ] || end KILL
        rm -rf "$folder"
        """

    /// - Returns: The ID of the server's process.
    func start() -> Int32? { Int32(send("start") ?? "") }

    /// Ends the server with a signal, and waits until all its processes are gone.
    func end(_ signal: String) { _ = send(signal) }

    private func send(_ command: String) -> String? {
        try? input.write(contentsOf: Data((command + "\n").utf8))
        return answer()
    }

    private func answer() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output.fileDescriptor, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    /// The log of the server and the guardian so far.
    var log: String { (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "" }
}
