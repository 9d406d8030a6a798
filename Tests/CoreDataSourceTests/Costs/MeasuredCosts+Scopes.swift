import CoreDataSource
import Foundation
import RowStore
import TestSupport

/// Loads of a list of 1,000 contacts from a server.
func costsOfLoads() async throws -> [Cost] {
    let counting = try CountedStore()
    let contacts = try await counting.container.dataSource(ContactDataSource.self)
    let scope = SyncScope("contacts", ContactEntity.self)
    let costs = [
        try await counting.cost("load a list of 1,000 for the first time") {
            try await contacts.load(scope, maxAge: .zero) { _ in .list(contactList(0..<1_000), entityTag: "1") }
        },
        try await counting.cost("load a list that is fresh") {
            try await contacts.load(scope, maxAge: .seconds(86_400)) { _ in .notModified }
        },
        try await counting.cost("load a list that was not modified") {
            try await contacts.load(scope, maxAge: .zero) { _ in .notModified }
        },
        try await counting.cost("load the same list again") {
            try await contacts.load(scope, maxAge: .zero) { _ in .list(contactList(0..<1_000), entityTag: "2") }
        },
    ]
    try await counting.container.close()
    return costs
}

/// Saves that a history records, and reads of their records.
func costsOfHistory() async throws -> [Cost] {
    let counting = try CountedStore(history: .kept(for: .seconds(86_400), upTo: 1 << 30))
    let contacts = try await counting.container.dataSource(ContactDataSource.self)
    try await contacts.add(contactList(0..<1))
    let costs = [
        try await counting.cost("add one with a history") { try await contacts.add(contactList(1..<2)) },
        try await counting.cost("add 998 in one save with a history") {
            try await contacts.add(contactList(2..<1_000))
        },
        try await counting.cost("edit one with a history") {
            try await contacts.add(ContactData(uid: "uid-7", name: "other"))
        },
        try await counting.cost("read a history of 4 records") {
            for try await _ in counting.container.history() {}
        },
    ]
    try await counting.container.close()
    return costs
}

/// Reads that see one state of the store: pages, and a pinned main context.
@MainActor
func costsOfSnapshots() async throws -> [Cost] {
    let counting = try CountedStore()
    let contacts = try counting.container.dataSource(ContactDataSource.self)
    try await contacts.add(contactList(0..<1_000))
    let costs = [
        try await counting.cost("read 1,000 values in pages of 250") {
            for try await _ in counting.container.pages(as: ContactValue.self, size: 250) {}
        },
        try await counting.cost("pin the main context") { try contacts.main.pin() },
        try await counting.cost("fetch a page of 50 while pinned") {
            _ = try contacts.fetch(ContactEntity.self, order: [SortDescriptor(\.name)], limit: 50).count
        },
        try await counting.cost("advance a pin") { try contacts.main.advance() },
        try await counting.cost("unpin the main context") { contacts.main.unpin() },
    ]
    try await counting.container.close()
    return costs
}
