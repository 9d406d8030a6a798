package import Foundation
package import TestSupport

/// The contents of a disk: the synced bytes of a store's files, and the pending writes, which the disk may have written or not.
package struct DiskImage {
    package enum Damage: CaseIterable, Hashable {
        /// Only synced bytes are there.
        case syncedOnly
        /// All bytes are there, as after a kill.
        case everything
        /// The disk wrote in order, up to some write.
        case prefix
        /// The disk wrote some of the pending writes, in any order.
        case subset
        /// Like `subset`, and one write is there only up to some sector.
        case torn
    }

    private enum Change {
        case write(Data, offset: Int)
        case truncate(Int)
    }

    private struct File {
        var syncedData = Data()
        var pending: [Change] = []
    }

    private var files: [String: File] = [:]
    package private(set) var acknowledged = 0

    package init() {}

    package mutating func apply(_ event: WriteLog.Event) {
        switch event {
        case .write(let file, let bytes, let offset):
            files[file, default: File()].pending.append(.write(bytes, offset: offset))
        case .truncate(let file, let size): files[file, default: File()].pending.append(.truncate(size))
        case .sync(let file):
            for change in files[file]?.pending ?? [] {
                DiskImage.apply(change, to: &files[file, default: File()].syncedData)
            }
            files[file]?.pending = []
        case .failedSync(let file): files[file]?.pending = []
        case .delete(let file): files[file] = nil
        case .acknowledged(let saves): acknowledged = saves
        }
    }

    /// The files after a power cut.
    package func files(after damage: Damage, using generator: inout SeededRandom) -> [String: Data] {
        var result: [String: Data] = [:]
        for (name, file) in files.sorted(by: { $0.key < $1.key }) {
            var bytes = file.syncedData
            for change in DiskImage.survivors(of: file.pending, damage, &generator) {
                DiskImage.apply(change, to: &bytes)
            }
            result[name] = bytes
        }
        return result
    }

    private static func survivors(
        of changes: [Change], _ damage: Damage, _ generator: inout SeededRandom
    ) -> [Change] {
        switch damage {
        case .syncedOnly: return []
        case .everything: return changes
        case .prefix: return Array(changes.prefix(Int.random(in: 0...changes.count, using: &generator)))
        case .subset: return changes.filter { _ in Bool.random(using: &generator) }
        case .torn:
            var left = changes.filter { _ in Bool.random(using: &generator) }
            guard let place = left.indices.randomElement(using: &generator),
                case .write(let bytes, let offset) = left[place]
            else { return left }
            let sectors = Int.random(in: 0...(bytes.count / 512), using: &generator)
            left[place] = .write(bytes.prefix(sectors * 512), offset: offset)
            return left
        }
    }

    private static func apply(_ change: Change, to bytes: inout Data) {
        switch change {
        case .write(let written, let offset):
            if bytes.count < offset + written.count { bytes.append(Data(count: offset + written.count - bytes.count)) }
            bytes.replaceSubrange(offset..<offset + written.count, with: written)
        case .truncate(let size):
            if size < bytes.count {
                bytes = Data(bytes.prefix(size))
            } else {
                bytes.append(Data(count: size - bytes.count))
            }
        }
    }
}
