import Foundation

/// A TCP connection on this machine, or a listening socket. It is closed when its last user is gone.
final class Socket: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
    }

    private let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        set(IPPROTO_TCP, TCP_NODELAY)
        #if !os(Linux)
        set(Int(SOL_SOCKET), SO_NOSIGPIPE)
        #endif
    }

    private convenience init() throws {
        #if os(Linux)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw Failure("socket") }
        self.init(descriptor)
    }

    deinit { close(descriptor) }

    /// Connects to a port of this machine.
    convenience init(connectingTo port: Int) throws {
        try self.init()
        guard (Socket.withAddress(port) { connect(descriptor, $0, $1) }) == 0 else {
            throw Failure("connect to port \(port)")
        }
    }

    /// Listens at a port; 0 for a port that the system chooses.
    convenience init(listeningAt port: Int = 0) throws {
        try self.init()
        set(Int(SOL_SOCKET), Int32(SO_REUSEADDR))
        guard (Socket.withAddress(port) { bind(descriptor, $0, $1) }) == 0 else {
            throw Failure("bind to port \(port)")
        }
        guard listen(descriptor, 128) == 0 else { throw Failure("listen") }
    }

    /// The port of this socket.
    var port: Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Waits for the next connection; nil once the socket is cut.
    func accept() -> Socket? {
        let connection = Foundation.accept(descriptor, nil, nil)
        return connection >= 0 ? Socket(connection) : nil
    }

    /// - Returns: Whether the other end is still open.
    @discardableResult
    func send(_ bytes: some Collection<UInt8>) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Socket.flags) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Waits for bytes; empty at the end of the connection.
    func receive() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return Array(buffer.prefix(max(0, count)))
    }

    /// Ends the connection, and wakes threads that wait for bytes.
    func cut() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Ends the sending direction of the connection.
    func cutSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// A send to a closed connection must not raise a signal.
    #if os(Linux)
    private static let flags = Int32(MSG_NOSIGNAL)
    #else
    private static let flags: Int32 = 0
    #endif

    private func set(_ level: Int, _ option: Int32) {
        var on: Int32 = 1
        setsockopt(descriptor, Int32(level), option, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func withAddress(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
