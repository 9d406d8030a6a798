internal import DebianControl
internal import Foundation

/// The packages of a control file, and its broken records.
struct PackageList {
    private(set) var packages: [PackageRecord] = []
    /// The number of packages that cannot be stored. A broken record without a package's name is listed, but not counted.
    private(set) var brokenCount = 0
    private var faults: [BrokenRecord] = []

    private struct BrokenRecord {
        var name: String
        var fault: ControlFault
    }

    /// - Throws: An error if the input cannot be read to its end, or contains no package.
    init(_ input: Input) throws {
        var parser = ControlParser(leadingField: "Package")
        let progress = ProgressBar.standardError
        progress.begin("Reading", total: input.byteCount)
        try input.read { bytes in
            for record in parser.parse(bytes) { add(record) }
            progress.advance(by: bytes.count)
        }
        for record in parser.finish() { add(record) }
        progress.end()
        if packages.isEmpty {
            reportFaults()
            throw CatalogError("\(input.name) contains no package. Nothing was changed.")
        }
    }

    private mutating func add(_ record: ControlRecord) {
        do throws(ControlFault) {
            packages.append(try PackageRecord(record))
        } catch {
            let name = (try? record.unfolded("Package")) ?? "a record without a name"
            faults.append(BrokenRecord(name: name, fault: error))
            if record.hasLeadingField { brokenCount += 1 }
        }
    }

    /// Prints the first broken records, and the number of the others.
    func reportFaults() {
        for record in faults.prefix(20) {
            StandardError.print("line \(record.fault.line): \(record.name): \(record.fault.message)")
        }
        if faults.count > 20 { StandardError.print("… more broken records: \(faults.count - 20)") }
    }
}

/// The source of the control file.
struct Input: Equatable {
    /// A path, or `-` for standard input.
    var name: String

    static let dpkgStatus = Input("/var/lib/dpkg/status")

    init(_ name: String) {
        self.name = name
    }

    /// Passes the bytes to the body in pieces.
    func read(_ body: ([UInt8]) -> Void) throws {
        do {
            let file = name == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: name))
            while let data = try file.read(upToCount: 1 << 18), !data.isEmpty { body(Array(data)) }
        } catch {
            throw CatalogError("\(name) cannot be read. \(error.localizedDescription)")
        }
    }

    /// The number of bytes; nil if it is unknown.
    var byteCount: Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: name)
        return (attributes?[.size] as? NSNumber).map(\.intValue)
    }
}
